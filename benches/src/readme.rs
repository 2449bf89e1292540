//! The README's table, from the JSON of a run.

use crate::Result;
use crate::clock::Clock;
use crate::gates::{State, of_bandwidth, of_peak};
use crate::report::Report;
use crate::table::time;
use crate::workload::Contender;

const BEGIN: &str = "<!-- bench -->\n";
const END: &str = "<!-- end of bench -->";

/// The text with the table between its marks written anew.
pub fn with_table(text: &str, report: &Report) -> Result<String> {
    let (before, rest) = text.split_once(BEGIN).ok_or("the README has no mark where the table begins")?;
    let (_, after) = rest.split_once(END).ok_or("the README has no mark where the table ends")?;
    Ok(format!("{before}{BEGIN}\n{}\n{END}{after}", table(report)))
}

fn table(report: &Report) -> String {
    let machine = &report.machine;
    let mut text = format!(
        "One thread of {} with {} cores; a core does {:.0} GFLOP/s of f32 FMA and moves {:.1} GB/s of memory",
        machine.name,
        machine.cores,
        machine.peak_f32 * 1e-9,
        machine.bandwidth * 1e-9
    );
    if !report.versions.is_empty() {
        text += &format!("; {}", report.versions.join(", "));
    }
    if report.clock == Clock::Cpu {
        text += "; the time that processes compute, as others used the machine";
    }
    let count = |state| report.verdicts.iter().filter(|verdict| verdict.state == state).count();
    text += &format!(". {} gates hold, {} fail.\n\n", count(State::Holds), count(State::Fails));
    text += "| workload | tensorjit | of the machine's limit | times as fast as the best peer | peers |\n";
    text += "|---|---|---|---|---|\n";
    for row in report.rows.iter().filter(|row| row.threads == 1) {
        let Some(ours) = row.of(Contender::Tensorjit) else { continue };
        let limit = match (of_peak(row, machine), of_bandwidth(row, machine)) {
            (Some(part), _) => format!("{:.0} % of FMA", part * 100.0),
            (None, Some(part)) => format!("{:.0} % of memory", part * 100.0),
            (None, None) => String::new(),
        };
        let ratio =
            row.best_peer().and_then(|best| row.ratio(best)).map_or("-".into(), |r| format!("{r:.2}"));
        let mut peers: Vec<_> =
            row.results.iter().filter(|outcome| outcome.contender != Contender::Tensorjit).collect();
        peers.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let peers: Vec<String> =
            peers.iter().map(|peer| format!("{} {}", peer.contender.name(), time(peer.seconds))).collect();
        text += &format!(
            "| {} | {} | {limit} | {ratio} | {} |\n",
            row.workload,
            time(ours.seconds),
            peers.join(", ")
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;

    #[test]
    fn only_the_table_is_written() {
        let machine = Machine { name: "M".into(), cores: 2, peak_f32: 1e11, peak_f64: 5e10, bandwidth: 1e10 };
        let report = Report { machine, clock: Clock::Wall, versions: vec![], rows: vec![], verdicts: vec![] };
        let text = format!("a\n{BEGIN}stale\n{END}\nb\n");
        let new = with_table(&text, &report).unwrap();
        assert!(new.starts_with("a\n") && new.ends_with("\nb\n") && !new.contains("stale"));
        assert_eq!(with_table(&new, &report).unwrap(), new, "once more changes nothing");
        assert!(with_table("no marks", &report).is_err());
    }
}
