//! What must hold, and whether it does.

use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::measure::{Outcome, Row};
use crate::tensor::Precision;
use crate::values;
use crate::workload::{Contender, Gate, Work, Workload};
use crate::workloads::products;

/// A gate beside what was measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Verdict {
    /// What was measured, and in what unit.
    pub what: String,
    pub found: Option<f64>,
    /// None where something is only reported.
    pub limit: Option<f64>,
    pub state: State,
}

/// Whether a gate holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Holds,
    Fails,
    /// A peer is missing, so that nothing is said.
    Open,
    /// There is no limit.
    Reported,
}

impl Verdict {
    /// A gate on the least value.
    pub fn at_least(what: String, found: Option<f64>, limit: f64) -> Verdict {
        Verdict::new(what, found, limit, |found| found >= limit)
    }

    /// A gate on the greatest value.
    pub fn at_most(what: String, found: Option<f64>, limit: f64) -> Verdict {
        Verdict::new(what, found, limit, |found| found <= limit)
    }

    fn new(what: String, found: Option<f64>, limit: f64, holds: impl Fn(f64) -> bool) -> Verdict {
        let state = match found {
            None => State::Open,
            Some(found) if holds(found) => State::Holds,
            Some(_) => State::Fails,
        };
        Verdict { what, found, limit: Some(limit), state }
    }

    /// A value without a gate.
    pub fn report(what: String, found: f64) -> Verdict {
        Verdict { what, found: Some(found), limit: None, state: State::Reported }
    }
}

/// All verdicts on workloads.
pub fn verdicts(workloads: &[Workload], rows: &[Row], machine: &Machine, peers: bool) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for row in rows {
        let Some(workload) = workloads.iter().find(|workload| workload.name == row.workload) else {
            continue;
        };
        if row.threads == 1 {
            verdicts.extend(workload.gates.iter().map(|gate| speed(*gate, row, machine, peers)));
        }
        verdicts.extend(accuracy(row, workload.precision, peers));
        let what = format!("{}, {} threads: allocations of 10 calls", row.workload, row.threads);
        verdicts.push(Verdict::at_most(what, row.allocations.map(|count| count as f64), 0.0));
    }
    verdicts.extend(threads(rows));
    verdicts.extend([false, true].into_iter().filter_map(|double| products_mean(rows, double)));
    verdicts
}

fn speed(gate: Gate, row: &Row, machine: &Machine, peers: bool) -> Verdict {
    let ratio = |best: Option<&Outcome>| best.and_then(|best| row.ratio(best));
    let name = &row.workload;
    match gate {
        Gate::Best(limit) => {
            let what = format!("{name}: times as fast as the best peer");
            let mut verdict = Verdict::at_least(what, ratio(row.best_peer()), limit);
            // Who beats the Rust peers may still lose to one that was not asked.
            if !peers && verdict.state == State::Holds {
                verdict.state = State::Open;
            }
            verdict
        }
        Gate::BestOf(peers, limit) => {
            let names: Vec<&str> = peers.iter().map(|peer| peer.name()).collect();
            let what = format!("{name}: times as fast as {}", names.join(" and "));
            let all = peers.iter().all(|peer| row.of(*peer).is_some());
            Verdict::at_least(what, if all { ratio(row.best_of(peers)) } else { None }, limit)
        }
        Gate::Peak(limit) => {
            Verdict::at_least(format!("{name}: part of the FMA peak"), of_peak(row, machine), limit)
        }
    }
}

/// The part of the FMA peak of the cores that ours reaches.
pub fn of_peak(row: &Row, machine: &Machine) -> Option<f64> {
    let Work::Flops(flops) = row.work else { return None };
    let peak = if row.double { machine.peak_f64 } else { machine.peak_f32 };
    Some(flops / row.of(Contender::Tensorjit)?.seconds / (peak * row.threads as f64))
}

/// The part of the bandwidth of memory; above 1 where caches hold the data.
pub fn of_bandwidth(row: &Row, machine: &Machine) -> Option<f64> {
    let Work::Bytes(bytes) = row.work else { return None };
    Some(bytes / row.of(Contender::Tensorjit)?.seconds / machine.bandwidth)
}

/// Several threads beside one: the five largest gain, small work loses nothing, and the bits are the same.
fn threads(rows: &[Row]) -> Vec<Verdict> {
    let mut both: Vec<_> = rows
        .iter()
        .filter_map(|row| Some((row, row.alone?, row.of(Contender::Tensorjit)?.seconds)))
        .collect();
    both.sort_by(|(_, a, _), (_, b, _)| b.seconds.total_cmp(&a.seconds));
    let mut verdicts = Vec::new();
    for (position, (row, alone, seconds)) in both.into_iter().enumerate() {
        let name = format!("{}, {} threads", row.workload, row.threads);
        let same = if alone.same_bits { 1.0 } else { 0.0 };
        verdicts.push(Verdict::at_least(format!("{name}: the bits of one"), Some(same), 1.0));
        // To the hundredth: where nothing is shared both run the same code.
        let gain = (alone.seconds / seconds * 100.0).round() / 100.0;
        let what = format!("{name}: times as fast as one");
        verdicts.push(match alone.seconds {
            t if t < 50e-6 => Verdict::at_least(what, Some(gain), 1.0),
            t if t > 1e-3 && position < 5 => Verdict::at_least(what, Some(gain), 1.8),
            _ => Verdict::report(what, gain),
        });
    }
    verdicts
}

/// Everyone computes the same, and ours as exactly as the best.
fn accuracy(row: &Row, precision: Precision, peers: bool) -> Vec<Verdict> {
    let (name, threads) = (&row.workload, row.threads);
    let worst = row.results.iter().map(|outcome| outcome.error.largest).fold(0.0, f64::max);
    let what = format!("{name}, {threads} threads: the largest error of any contender");
    let agree = Verdict::at_most(what, Some(worst), values::tolerance(precision));
    let others = row.results.iter().filter(|outcome| outcome.contender != Contender::Tensorjit);
    let best = others.map(|outcome| outcome.error.typical).min_by(f64::total_cmp);
    let ours = row.of(Contender::Tensorjit).map(|ours| ours.error.typical);
    let least = values::rounding(precision);
    let ratio = ours.zip(best).map(|(ours, best)| ours.max(least) / best.max(least));
    let what = format!("{name}, {threads} threads: our error beside the best peer's");
    let mut exact = Verdict::at_most(what, ratio, 1.5);
    if !peers && exact.state == State::Holds {
        exact.state = State::Open;
    }
    vec![agree, exact]
}

/// The geometric mean of the products of a precision beside the libraries; on all of them, or nothing is said.
fn products_mean(rows: &[Row], double: bool) -> Option<Verdict> {
    let libraries = [Contender::Gemm, Contender::NumPy];
    let gated: Vec<&Row> = rows
        .iter()
        .filter(|row| row.threads == 1 && row.double == double && products::gated(&row.workload))
        .collect();
    if gated.is_empty() {
        return None;
    }
    let all = products::workloads();
    let count =
        all.iter().filter(|w| products::gated(&w.name) && (w.precision == Precision::F64) == double).count();
    let complete = gated.len() == count
        && gated.iter().all(|row| libraries.iter().all(|library| row.of(*library).is_some()));
    let ratios = gated.iter().filter_map(|row| row.ratio(row.best_of(&libraries)?));
    let mean = (ratios.map(f64::ln).sum::<f64>() / gated.len() as f64).exp();
    let precision = if double { "f64" } else { "f32" };
    let what = format!("matrix products, {precision}: geometric mean beside the best of gemm and numpy");
    Some(Verdict::at_least(what, complete.then_some(mean), 0.98))
}
