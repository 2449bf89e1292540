//! Machine code for a function: from the folder, or made and put there.

use std::path::Path;

use tensorjit_core::codegen::{self, Object, Visibility, archive};
use tensorjit_core::diag::{Bug, Failure};
use tensorjit_core::dim::facts::Condition;
use tensorjit_core::graph::Graph;
use tensorjit_core::loops::{Kernel, Target};
use tensorjit_core::pipeline::{self, Stage};
use tensorjit_runtime::abi::{self, Level};

use crate::emit::{Code, EntryPoint};
use crate::facts::CodeFacts;
use crate::key::key;
use crate::options::Options;
use crate::store::Slot;

/// What code is made for and where it is kept.
#[derive(Clone, Debug)]
pub(crate) struct Backend<'s> {
    /// The levels, highest first.
    pub(crate) targets: Vec<Target>,
    /// The folder.
    pub(crate) folder: &'s Path,
    /// What the environment asks for.
    pub(crate) options: &'s Options,
}

/// What decides the code of a function beside its checked graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head<'f> {
    /// The name.
    pub(crate) name: &'f str,
    /// The inputs whose final values are the last outputs of the graph, in order.
    pub(crate) states: &'f [u32],
    /// The cases that get versions of their own.
    pub(crate) versions: &'f [Vec<Condition>],
}

/// Of the targets, those that can be reached: where the build promises a level, no lower one is ever picked, and
/// where the user lists levels, those only.
pub(crate) fn reachable(mut targets: Vec<Target>, features: &[String], options: &Options) -> Vec<Target> {
    if let Some(levels) = &options.levels {
        targets.retain(|target| target.level == Level::Native || levels.contains(&target.level));
    }
    let promised = |target: &Target| {
        let needed: &[&str] = match target.level {
            Level::X86V4 => &["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"],
            Level::X86V3 => &["avx2", "bmi1", "bmi2", "f16c", "fma", "lzcnt", "movbe"],
            Level::X86V2 => &["popcnt", "sse4.2"],
            Level::Neon | Level::Native => &[],
        };
        needed.iter().all(|name| features.iter().any(|feature| feature == name))
    };
    if let Some(position) = targets.iter().position(promised) {
        targets.truncate(position + 1);
    }
    targets
}

/// Why there is no code.
#[derive(Debug)]
pub(crate) enum Missing {
    /// The compiler gives none.
    Failed(Failure),
    /// The folder cannot be written to, as these words say.
    Folder(String),
}

impl<E: Into<Failure>> From<E> for Missing {
    fn from(failure: E) -> Missing {
        Missing::Failed(failure.into())
    }
}

impl Backend<'_> {
    /// The code of a function with a checked graph.
    pub(crate) fn code(&self, head: &Head<'_>, graph: Graph) -> Result<Code, Missing> {
        let library = library(head.name, &self.key(head, &graph));
        let slot = Slot::new(self.folder, &library);
        let facts = match slot.read().and_then(|text| CodeFacts::read(&text)) {
            Some(facts) => facts,
            None => self.compile(head, graph, &library, &slot)?,
        };
        let entries = self
            .targets
            .iter()
            .map(|target| EntryPoint { level: target.level, symbol: symbol(&library, target.level) });
        Ok(Code { entries: entries.collect(), library: Some(library), facts })
    }

    /// A hash of what the machine code depends on, without making any of it.
    fn key(&self, head: &Head<'_>, graph: &Graph) -> String {
        let Head { name, states, versions } = head;
        let targets = format!("{:?}", self.targets);
        let (major, minor, patch) = codegen::llvm_version();
        key(&[
            tensorjit_core::FINGERPRINT,
            &abi::VERSION.to_string(),
            &format!("{major}.{minor}.{patch}"),
            &targets,
            name,
            &format!("{states:?} {versions:?} {:?}", self.options),
            &graph.to_string(),
        ])
    }

    fn compile(
        &self,
        head: &Head<'_>,
        graph: Graph,
        library: &str,
        slot: &Slot,
    ) -> Result<CodeFacts, Missing> {
        let mut dumps = Dumps { backend: self, library, failed: None };
        let mut watch = |stage: Stage, _, text: &dyn Fn() -> String| dumps.write(stage, text);
        let prepared = pipeline::prepare(graph, head.states, &mut watch)?.with_versions(head.versions);
        let lowered = prepared.lower(&self.targets, &mut watch)?;
        let batches: Vec<_> = self
            .targets
            .iter()
            .zip(&lowered.kernels)
            .flat_map(|(target, parts)| parts.batches(&symbol(library, target.level)))
            .collect();
        for batch in &batches {
            dumps.list(batch)?;
        }
        if let Some(message) = dumps.failed {
            return Err(Missing::Folder(message));
        }
        let objects = codegen::compile_all(&batches, Visibility::Hidden)?;
        let facts = CodeFacts::new(&prepared.graph().facts, &lowered, self.code_bytes(&batches, &objects)?)
            .map_err(|error| Bug::new("macro", error.to_string()))?;
        // A member has the name of its first function.
        let members: Vec<(String, Vec<u8>)> = batches
            .iter()
            .zip(objects)
            .filter_map(|(batch, object)| Some((format!("{}.o", batch.first()?.0), object.bytes)))
            .collect();
        let written = slot.write(&archive::write(&members)?, &facts.write());
        let message = |error| format!("cannot write kernels to {}: {error}", self.folder.display());
        written.map_err(|error| Missing::Folder(message(error)))?;
        Ok(facts)
    }
}

impl Backend<'_> {
    /// The bytes of code for each target.
    fn code_bytes(&self, batches: &[Vec<(String, &Kernel)>], objects: &[Object]) -> Result<Vec<usize>, Bug> {
        let mut bytes = vec![0; self.targets.len()];
        for (batch, object) in batches.iter().zip(objects) {
            let kernel = batch.first().map(|(_, kernel)| &kernel.target);
            let position = self.targets.iter().position(|target| Some(target) == kernel);
            if let Some(position) = position {
                bytes[position] += codegen::object::code_bytes(&object.bytes)?;
            }
        }
        Ok(bytes)
    }
}

/// What all symbols and files of a function begin with: its name, so that profilers show it, and its key.
fn library(name: &str, key: &str) -> String {
    // Symbols of foreign functions are ASCII; the key tells names apart that become equal here.
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = name.chars().take(LONGEST).map(plain).collect();
    format!("tensorjit_{name}_{key}")
}

/// How much of a name is kept: names of files are bounded.
const LONGEST: usize = 80;

/// The symbol of one level.
fn symbol(library: &str, level: Level) -> String {
    let level = match level {
        Level::X86V2 => "v2",
        Level::X86V3 => "v3",
        Level::X86V4 => "v4",
        Level::Neon => "neon",
        Level::Native => "native",
    };
    format!("{library}_{level}")
}

/// Writes the texts of the stages that the user asks for beside the archive.
struct Dumps<'b> {
    backend: &'b Backend<'b>,
    library: &'b str,
    /// Why the last of them could not be written.
    failed: Option<String>,
}

impl Dumps<'_> {
    fn wants(&self, stage: Stage) -> bool {
        self.backend.options.dump.iter().any(|name| name == stage.name())
    }

    /// Writes what LLVM makes of the kernels of a target.
    fn list(&mut self, kernels: &[(String, &Kernel)]) -> Result<(), Bug> {
        if self.wants(Stage::Ir) || self.wants(Stage::Asm) {
            let listing = codegen::listing(kernels)?;
            self.write(Stage::Ir, &|| listing.optimized.clone());
            self.write(Stage::Asm, &|| listing.assembly.clone());
        }
        Ok(())
    }

    fn write(&mut self, stage: Stage, text: &dyn Fn() -> String) {
        if !self.wants(stage) {
            return;
        }
        let path = self.backend.folder.join(format!("{}.{}.txt", self.library, stage.name()));
        // What is made for each level goes to one file, one after another.
        let before = match stage {
            Stage::Loops | Stage::Ir | Stage::Asm => std::fs::read_to_string(&path).unwrap_or_default(),
            Stage::Checked | Stage::Expanded | Stage::Simplified => String::new(),
        };
        let written = std::fs::create_dir_all(self.backend.folder)
            .and_then(|()| std::fs::write(&path, before + &text()));
        if let Err(error) = written {
            self.failed = Some(format!("cannot write {}: {error}", path.display()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn x86() -> Vec<Target> {
        codegen::targets("x86_64-unknown-linux-gnu", None).unwrap()
    }

    #[test]
    fn names_are_legal_symbols() {
        assert_eq!(library("step", "0f"), "tensorjit_step_0f");
        assert_eq!(library("größe", "0f"), "tensorjit_gr__e_0f");
        assert!(library(&"a".repeat(1000), "0f").len() < 200);
    }

    #[test]
    fn levels_that_are_never_picked_are_left_out() {
        let levels = |features: &str, listed: Option<Vec<Level>>| -> Vec<Level> {
            let features: Vec<String> = features.split(',').map(str::to_owned).collect();
            let options = Options { levels: listed, ..Options::default() };
            reachable(x86(), &features, &options).iter().map(|target| target.level).collect()
        };
        let v3 = "avx2,bmi1,bmi2,f16c,fma,lzcnt,movbe,popcnt,sse4.2";
        assert_eq!(levels("sse2", None), [Level::X86V4, Level::X86V3, Level::X86V2]);
        assert_eq!(levels(v3, None), [Level::X86V4, Level::X86V3]);
        assert_eq!(levels("sse2", Some(vec![Level::X86V2])), [Level::X86V2]);
    }

    /// That a folder is no folder is no bug of the compiler.
    #[test]
    fn folders_that_cannot_be_written_to_are_told() {
        let text = "pub fn f(x: f32) -> f32 { 2 * x }".parse().unwrap();
        let block = tensorjit_core::syntax::parse(text, Vec::new()).block;
        let graph = tensorjit_core::check::check_block(&block).unwrap().functions.remove(0).graph;
        let folder = std::env::current_exe().unwrap();
        let head = Head { name: "f", states: &[], versions: &[] };
        for (dump, words) in
            [(Vec::new(), "cannot write kernels to"), (vec!["loops".to_owned()], "cannot write")]
        {
            let options = Options { dump, ..Options::default() };
            let backend = Backend { targets: x86(), folder: &folder, options: &options };
            let Err(Missing::Folder(message)) = backend.code(&head, graph.clone()) else { panic!("{words}") };
            assert!(message.starts_with(words) && message.contains(folder.to_str().unwrap()), "{message}");
        }
    }

    #[test]
    fn the_key_depends_on_what_the_code_depends_on() {
        let options = Options::default();
        let other = Options { dump: vec!["loops".to_owned()], ..Options::default() };
        let backend = |targets, options| Backend { targets, folder: Path::new(""), options };
        let graph = Graph::default();
        let plain = Head { name: "f", states: &[], versions: &[] };
        let keys = [
            backend(x86(), &options).key(&plain, &graph),
            backend(x86(), &options).key(&Head { name: "g", ..plain }, &graph),
            backend(x86(), &options).key(&Head { states: &[0], ..plain }, &graph),
            backend(x86(), &options).key(&Head { versions: &[Vec::new()], ..plain }, &graph),
            backend(x86(), &other).key(&plain, &graph),
            backend(x86()[..1].to_vec(), &options).key(&plain, &graph),
        ];
        for (position, key) in keys.iter().enumerate() {
            assert!(!keys[..position].contains(key), "{position}");
        }
        assert_eq!(keys[0], backend(x86(), &options).key(&plain, &Graph::default()));
    }
}
