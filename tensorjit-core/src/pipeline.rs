//! The compiler on one page: named stages, each verified, shown to whoever watches, and timed.
//!
//! ```text
//! checked graph -> expand -> simplify -> schedule -> emit -> object
//! ```

use std::thread::Builder;
use std::time::{Duration, Instant};

use tensorjit_runtime::abi::Relation;

use crate::autodiff;
use crate::diag::{Bug, Failure, Origin};
use crate::dim::Dim;
use crate::dim::facts::{Condition, Verdict};
use crate::graph::{self, Graph, NodeId};
use crate::loops::Target;
use crate::loops::nests::share_nests;
use crate::loops::split::{Limits, Parts, split};
use crate::loops::verify::verify;
use crate::loops::versions::choose;
use crate::schedule::{self, Schedule, tasks::Grain};
use crate::simplify;
use crate::sizes::{self, Size};

/// The stages, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The typed graph as the user wrote it.
    Checked,
    /// Derivatives replaced by what computes them.
    Expanded,
    /// Rewritten without changing a bit.
    Simplified,
    /// The loops of one target.
    Loops,
    /// LLVM IR of one target, as it is handed to instruction selection.
    Ir,
    /// Assembly of one target.
    Asm,
}

impl Stage {
    /// All of them, in order.
    pub const ALL: [Stage; 6] =
        [Stage::Checked, Stage::Expanded, Stage::Simplified, Stage::Loops, Stage::Ir, Stage::Asm];

    /// The name, as `TENSORJIT_DUMP` takes it.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Checked => "checked",
            Stage::Expanded => "expanded",
            Stage::Simplified => "simplified",
            Stage::Loops => "loops",
            Stage::Ir => "ir",
            Stage::Asm => "asm",
        }
    }
}

/// Told of every stage: what it took, and the text of what it made, on demand.
pub type Watch<'w> = dyn FnMut(Stage, Duration, &dyn Fn() -> String) + 'w;

/// A graph without derivatives, simplified and verified: what can be scheduled.
#[derive(Clone, Debug)]
pub struct Prepared {
    graph: Graph,
    states: Vec<u32>,
    grain: Grain,
    limits: Limits,
    versions: Vec<Vec<Condition>>,
}

/// The loops of a function for each target, and what a call must know of them.
#[derive(Debug)]
pub struct Lowered {
    /// One for each target, in order.
    pub kernels: Vec<Parts>,
    /// Bytes of workspace.
    pub workspace: Dim,
    /// What a call must evaluate, beside workspace and shapes, before it enters a kernel.
    pub sizes: Vec<Size>,
    /// The number of loop nests.
    pub nests: usize,
}

/// Expands derivatives and simplifies.  The last outputs of the graph are the final values of the state inputs
/// `states`, in order.
pub fn prepare(graph: Graph, states: &[u32], watch: &mut Watch<'_>) -> Result<Prepared, Failure> {
    let graph = stage(Stage::Checked, watch, || Ok(graph))?;
    let graph = stage(Stage::Expanded, watch, || autodiff::run(graph))?;
    graph::verify::verify_differentiated(&graph, Stage::Expanded.name())?;
    let graph = stage(Stage::Simplified, watch, || Ok(simplify::run(graph)?))?;
    Ok(Prepared {
        graph,
        states: states.to_vec(),
        grain: Grain::default(),
        limits: Limits::USUAL,
        versions: Vec::new(),
    })
}

impl Prepared {
    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Has work of another size shared among threads than pays on most machines.
    #[must_use]
    pub fn with_grain(self, grain: Grain) -> Prepared {
        Prepared { grain, ..self }
    }

    /// Cuts kernels into parts within other limits than serve build time best.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Prepared {
        Prepared { limits, ..self }
    }

    /// Makes versions for cases, each with all its conditions, in the order in which they are tried.
    #[must_use]
    pub fn with_versions(self, versions: &[Vec<Condition>]) -> Prepared {
        Prepared { versions: versions.to_vec(), ..self }
    }

    /// Schedules, and makes the loops for every target.
    ///
    /// An error of the user is a size that no machine has.
    pub fn lower(&self, targets: &[Target], watch: &mut Watch<'_>) -> Result<Lowered, Failure> {
        let schedule = schedule::schedule(&self.graph, &self.states, self.grain)?;
        let graphs = self.versions.iter().map(|conditions| self.graph.restrict(conditions));
        let graphs = graphs.collect::<Result<Vec<Graph>, Bug>>()?;
        let versions = self.versions.iter().zip(&graphs).map(|(conditions, graph)| {
            let schedule = schedule::schedule(graph, &self.states, self.grain)?;
            Ok(Version { conditions, schedule })
        });
        let versions = versions.collect::<Result<Vec<Version<'_>>, Bug>>()?;
        let workspace = versions.iter().fold(schedule.workspace().clone(), Version::workspace);
        let sizes = sizes::unchecked(&self.graph, &workspace, &self.versions)?;
        if let Some(problem) = sizes::too_large(&self.graph.facts, &workspace, self.largest()) {
            return Err(Failure::User(vec![problem.help("this is the workspace of the whole function")]));
        }
        let mut kernels = Vec::with_capacity(targets.len());
        for emitted in side_by_side(targets, |target| {
            let start = Instant::now();
            let cases = versions.iter().map(|Version { conditions, schedule }| {
                Ok((*conditions, loops(schedule, target, self.limits)?))
            });
            let cases = cases.collect::<Result<Vec<_>, Bug>>()?;
            let parts = choose(target, cases, loops(&schedule, target, self.limits)?)?;
            Ok((share_nests(parts, self.limits), start.elapsed()))
        }) {
            let (parts, took) = emitted?;
            watch(Stage::Loops, took, &|| parts.to_string());
            kernels.push(parts);
        }
        Ok(Lowered { kernels, workspace, sizes, nests: schedule.kernels() })
    }

    /// The workspace, and what is in use of it while each loop nest runs: the least that any placement needs is the
    /// largest of these.
    pub fn memory(&self) -> Result<(Dim, Vec<Dim>), Bug> {
        let schedule = schedule::schedule(&self.graph, &self.states, self.grain)?;
        Ok((schedule.workspace().clone(), schedule.live()))
    }

    /// Where the value with the most elements by constant extents comes from.
    fn largest(&self) -> Origin {
        let weight = |id: &NodeId| {
            let extents = self.graph.ty(*id).shape.iter();
            extents.filter_map(Dim::as_const).fold(1_i64, i64::saturating_mul)
        };
        self.graph.ids().max_by_key(weight).map_or_else(Origin::default, |id| self.graph.origin(id))
    }
}

/// The schedule for a case.
struct Version<'p> {
    conditions: &'p [Condition],
    schedule: Schedule<'p>,
}

impl Version<'_> {
    /// What is enough for others and, where its case holds, for this version.
    fn workspace(others: Dim, version: &Version<'_>) -> Dim {
        let own = version.schedule.workspace();
        let facts = &version.schedule.graph().facts;
        if facts.decide(own, Relation::Le, &others) == Verdict::Proven {
            return others;
        }
        let own = version.conditions.iter().fold(own.clone(), |own, condition| &own * &condition.indicator());
        others.maximum(&own)
    }
}

/// The loops of a schedule for one target.
fn loops(schedule: &Schedule<'_>, target: &Target, limits: Limits) -> Result<Parts, Bug> {
    let (kernel, pool) = schedule.emit(target, limits)?;
    verify(&kernel)?;
    Ok(split(kernel, pool, limits))
}

/// What `make` makes of each item, in order, all at the same time, or by this thread where the system refuses others.
fn side_by_side<T: Sync, R: Send>(
    items: &[T],
    make: impl Fn(&T) -> Result<R, Bug> + Sync,
) -> Vec<Result<R, Bug>> {
    let make = &make;
    std::thread::scope(|scope| {
        let begin = |item| Builder::new().spawn_scoped(scope, move || make(item));
        let threads: Vec<_> = items.iter().map(begin).collect();
        let panicked = |_| Err(Bug::new("pipeline", "a thread panicked"));
        let results = threads.into_iter().zip(items).map(|(thread, item)| match thread {
            Ok(thread) => thread.join().unwrap_or_else(panicked),
            Err(_) => make(item),
        });
        results.collect()
    })
}

fn stage(
    stage: Stage,
    watch: &mut Watch<'_>,
    make: impl FnOnce() -> Result<Graph, Failure>,
) -> Result<Graph, Failure> {
    let start = Instant::now();
    let graph = make()?;
    graph::verify::verify(&graph, stage.name())?;
    watch(stage, start.elapsed(), &|| graph.to_string());
    Ok(graph)
}
