//! What the machine can do at most, measured, and where a process may run.

use std::fs;
use std::hint::black_box;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::Result;

/// The machine of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name.
    pub name: String,
    /// Its cores that the run may use.
    pub cores: usize,
    /// Single-precision FMA in registers, in FLOP/s of one core.
    pub peak_f32: f64,
    /// Double precision likewise.
    pub peak_f64: f64,
    /// Bytes a second that one core reads and writes in `a = b + s * c` over arrays of 64 MiB.
    pub bandwidth: f64,
}

impl Machine {
    /// Measures one core of so many.
    pub fn measure(cores: usize) -> Result<Machine> {
        let info = fs::read_to_string("/proc/cpuinfo")?;
        let field = |key: &str| {
            let line = info.lines().find(|line| line.starts_with(key));
            line.and_then(|line| line.split_once(':')).map_or("", |(_, value)| value.trim()).to_owned()
        };
        Ok(Machine {
            name: format!(
                "{} (family {}, model {})",
                field("model name"),
                field("cpu family"),
                field("model\t")
            ),
            cores,
            peak_f32: peak(fma_f32),
            peak_f64: peak(fma_f64),
            bandwidth: triad(),
        })
    }
}

/// Restricts this thread, and those that it starts, to the first `count` cores.
pub fn pin(count: usize) -> Result<()> {
    // SAFETY: the set is plain bits, and an empty one is all zeros.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for core in 0..count {
        // SAFETY: the set is live; a core beyond its size is ignored.
        unsafe { libc::CPU_SET(core, &mut set) };
    }
    // SAFETY: the address and the size are those of a live set.
    let status = unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) };
    if status == 0 { Ok(()) } else { Err(std::io::Error::last_os_error().into()) }
}

/// FLOP/s of a loop that reports how many operations it did: the best of many short runs.
fn peak(run: impl Fn(u64) -> f64) -> f64 {
    let once = || {
        let start = Instant::now();
        let operations = run(black_box(200_000));
        operations / start.elapsed().as_secs_f64()
    };
    (0..50).map(|_| once()).fold(0.0, f64::max)
}

/// Sixteen independent chains of FMAs hide the latency of four cycles on up to four units.
const CHAINS: usize = 16;

macro_rules! fma_loop {
    ($name:ident, $wide:ident, $narrow:ident, $element:ty, $set512:ident, $fma512:ident, $set256:ident, $fma256:ident) => {
        fn $name(count: u64) -> f64 {
            #[cfg(target_arch = "x86_64")]
            {
                if is_x86_feature_detected!("avx512f") {
                    // SAFETY: the machine has AVX-512.
                    return unsafe { $wide(count) };
                }
                if is_x86_feature_detected!("fma") {
                    // SAFETY: the machine has FMA, and so AVX.
                    return unsafe { $narrow(count) };
                }
            }
            let mut sums: [$element; CHAINS] = [0.0; CHAINS];
            let (a, b) = black_box((0.5, 1.0));
            for _ in 0..count {
                sums.iter_mut().for_each(|sum| *sum = *sum * a + b);
            }
            black_box(sums);
            (count as usize * CHAINS * 2) as f64
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f")]
        fn $wide(count: u64) -> f64 {
            use std::arch::x86_64::{$fma512, $set512};
            let mut sums = [$set512(0.0); CHAINS];
            let (a, b) = ($set512(black_box(0.5)), $set512(black_box(1.0)));
            for _ in 0..count {
                for sum in &mut sums {
                    *sum = $fma512(*sum, a, b);
                }
            }
            black_box(sums);
            (count as usize * CHAINS * 2 * (64 / size_of::<$element>())) as f64
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx,fma")]
        fn $narrow(count: u64) -> f64 {
            use std::arch::x86_64::{$fma256, $set256};
            // Two chains fewer than half of the registers beyond the operands would hold.
            let mut sums = [$set256(0.0); 12];
            let (a, b) = ($set256(black_box(0.5)), $set256(black_box(1.0)));
            for _ in 0..count {
                for sum in &mut sums {
                    *sum = $fma256(*sum, a, b);
                }
            }
            black_box(sums);
            (count as usize * 12 * 2 * (32 / size_of::<$element>())) as f64
        }
    };
}
fma_loop!(
    fma_f32,
    fma_f32_512,
    fma_f32_256,
    f32,
    _mm512_set1_ps,
    _mm512_fmadd_ps,
    _mm256_set1_ps,
    _mm256_fmadd_ps
);
fma_loop!(
    fma_f64,
    fma_f64_512,
    fma_f64_256,
    f64,
    _mm512_set1_pd,
    _mm512_fmadd_pd,
    _mm256_set1_pd,
    _mm256_fmadd_pd
);

/// Bytes a second of STREAM's triad, over arrays that no cache holds.
fn triad() -> f64 {
    const COUNT: usize = 16 << 20;
    let (b, c) = (vec![1.0f32; COUNT], vec![2.0f32; COUNT]);
    let mut a = vec![0.0f32; COUNT];
    let mut best = 0.0f64;
    for _ in 0..9 {
        let (s, start) = (black_box(3.0), Instant::now());
        for ((a, b), c) in a.iter_mut().zip(&b).zip(&c) {
            *a = b + s * c;
        }
        black_box(&mut a);
        best = best.max((3 * COUNT * size_of::<f32>()) as f64 / start.elapsed().as_secs_f64());
    }
    best
}
