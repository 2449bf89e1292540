//! What was found, as text.

use crate::gates::{State, Verdict, of_bandwidth, of_peak};
use crate::machine::Machine;
use crate::measure::Row;
use crate::workload::{Contender, Work};

/// The heading of the table.
pub fn heading(machine: &Machine, threads: usize) -> String {
    format!(
        "\n{}, {threads} of {} cores; one core: {:.1} GFLOP/s f32, {:.1} f64, {:.1} GB/s\n{:26} {:>10}  {:>9} {:>6}  {}",
        machine.name,
        machine.cores,
        machine.peak_f32 * 1e-9,
        machine.peak_f64 * 1e-9,
        machine.bandwidth * 1e-9,
        "workload",
        "tensorjit",
        "of limit",
        "ratio",
        "peers, from the fastest"
    )
}

/// A line of the table.
pub fn line(row: &Row, machine: &Machine) -> String {
    let ours = row.of(Contender::Tensorjit).map_or("failed".into(), |ours| time(ours.seconds));
    let limit = match row.work {
        Work::Flops(_) => percent(of_peak(row, machine), "fma"),
        Work::Bytes(_) => percent(of_bandwidth(row, machine), "mem"),
        Work::Call => String::new(),
    };
    let ratio =
        row.best_peer().and_then(|best| row.ratio(best)).map_or(String::new(), |r| format!("{r:.2}x"));
    let mut peers: Vec<_> =
        row.results.iter().filter(|outcome| outcome.contender != Contender::Tensorjit).collect();
    peers.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let peers: Vec<String> =
        peers.iter().map(|peer| format!("{} {}", peer.contender.name(), time(peer.seconds))).collect();
    let mut line = format!("{:26} {ours:>10}  {limit:>9} {ratio:>6}  {}", row.workload, peers.join(", "));
    for failure in &row.failures {
        line += &format!("\n{:26} {failure}", "");
    }
    line
}

fn percent(part: Option<f64>, of: &str) -> String {
    part.map_or(String::new(), |part| format!("{:.0}% {of}", part * 100.0))
}

/// What is only reported, the gates that fail, and how many do not.
pub fn verdicts(verdicts: &[Verdict]) -> String {
    let of = |state| verdicts.iter().filter(move |verdict| verdict.state == state);
    let mut text = String::from("\n");
    for verdict in of(State::Reported) {
        text += &format!("{}: {}\n", verdict.what, number(verdict.found));
    }
    for verdict in of(State::Fails) {
        text +=
            &format!("FAILS  {}: {}, limit {}\n", verdict.what, number(verdict.found), number(verdict.limit));
    }
    text += &format!(
        "{} gates hold, {} fail, {} are open for want of peers\n",
        of(State::Holds).count(),
        of(State::Fails).count(),
        of(State::Open).count()
    );
    text
}

fn number(value: Option<f64>) -> String {
    match value {
        None => "-".into(),
        Some(value) if value == 0.0 || (0.01..1e6).contains(&value.abs()) => format!("{value:.3}"),
        Some(value) => format!("{value:.2e}"),
    }
}

/// Seconds for people.
pub fn time(seconds: f64) -> String {
    match seconds {
        t if t < 1e-6 => format!("{:.0} ns", t * 1e9),
        t if t < 1e-3 => format!("{:.2} us", t * 1e6),
        t => format!("{:.3} ms", t * 1e3),
    }
}
