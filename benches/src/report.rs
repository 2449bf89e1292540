//! The report of a run: JSON, from which the charts and the README's table are drawn.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::gates::{self, Verdict};
use crate::machine::Machine;
use crate::measure::Row;
use crate::workload::Workload;
use crate::{Result, charts, readme};

/// What a worker found.
#[derive(Debug, Serialize, Deserialize)]
pub struct Part {
    pub machine: Machine,
    pub clock: Clock,
    /// Of the Python peers.
    pub versions: Vec<String>,
    pub rows: Vec<Row>,
}

/// What all found.
#[derive(Debug, Serialize, Deserialize)]
pub struct Report {
    pub machine: Machine,
    pub clock: Clock,
    pub versions: Vec<String>,
    pub rows: Vec<Row>,
    pub verdicts: Vec<Verdict>,
}

impl Report {
    /// Puts together what the workers found; `peers` tells whether Python's were asked.
    pub fn new(parts: Vec<Part>, workloads: &[Workload], peers: bool) -> Result<Report> {
        let mut parts = parts.into_iter();
        let Part { machine, clock, versions, mut rows } = parts.next().ok_or("there is nothing to report")?;
        rows.extend(parts.flat_map(|part| part.rows));
        let verdicts = gates::verdicts(workloads, &rows, &machine, peers);
        Ok(Report { machine, clock, versions, rows, verdicts })
    }

    /// Writes `bench.json` and the charts into `folder`.
    pub fn write(&self, folder: &Path) -> Result<()> {
        fs::write(folder.join("bench.json"), serde_json::to_string_pretty(self)? + "\n")?;
        charts::draw(&self.rows, folder)
    }

    /// Writes what the repository shows: the results, their charts, and the README's table.
    pub fn publish(&self, root: &Path) -> Result<()> {
        fs::write(root.join("benches/results.json"), serde_json::to_string_pretty(self)? + "\n")?;
        charts::draw(&self.rows, &root.join("docs/bench"))?;
        let readme = root.join("README.md");
        let text = fs::read_to_string(&readme)?;
        Ok(fs::write(&readme, readme::with_table(&text, self)?)?)
    }
}
