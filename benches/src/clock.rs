//! Time: samples of some milliseconds, and their median.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::call::Call;

/// Which time is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// The time that passes.
    Wall,
    /// The time that the process computes, on a machine that others use too; of use with one thread only.
    Cpu,
}

/// A moment of a clock, in seconds.
fn now(clock: Clock, start: Instant) -> f64 {
    match clock {
        Clock::Wall => start.elapsed().as_secs_f64(),
        Clock::Cpu => {
            let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            // SAFETY: the clock exists on every Linux, and `time` is a place for its value.
            unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
            time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
        }
    }
}

/// A sample holds so many calls that it takes about this long, or one.
const SAMPLE: f64 = 2e-3;

/// Seconds of a call, in samples over about `seconds`, at least one.
pub fn samples(call: &mut dyn Call, clock: Clock, seconds: f64) -> Result<Vec<f64>> {
    let start = Instant::now();
    let mut time = |count: u32| -> Result<f64> {
        let before = now(clock, start);
        for _ in 0..count {
            call.run()?;
        }
        Ok((now(clock, start) - before) / f64::from(count))
    };
    let one = time(1)?;
    // The first call after another contender finds cold caches; the second tells how many calls fill a sample.
    let one = if one < seconds { time(1)? } else { one };
    let count = (SAMPLE / one.max(1e-9)).clamp(1.0, 1e6) as u32;
    let mut samples = Vec::new();
    while samples.is_empty() || start.elapsed().as_secs_f64() < seconds {
        samples.push(time(count)?);
    }
    Ok(samples)
}

/// The median of samples; NaN where there are none.
pub fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}
