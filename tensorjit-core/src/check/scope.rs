//! The state of the checker: the graph that grows, and the names that are visible.

use std::collections::{BTreeMap, BTreeSet};

use tensorjit_runtime::abi::DType;

use super::builtins;
use super::layout::Layout;
use super::prelude::{Prelude, has_public};
use super::report::{Checked, Report, Stop, closest};
use super::value::Value;
use crate::diag::{Diagnostic, Origin};
use crate::dim::Dim;
use crate::graph::{Graph, NodeId, Op};
use crate::syntax::ast::{Block, Function, Ident, Import, Struct, plain_name};

/// The scope of the block itself.
pub(super) const OWN: usize = 0;

/// The scope of what is written in the language itself, which sees nothing of any block.
const LIBRARY: usize = 1;

/// The scope of the first of the other blocks.
const MODULES: usize = 2;

/// What all functions of a block share.
///
/// Items of other blocks have names of two parts, which no text can write; scopes say which text means them.
#[derive(Default)]
pub(super) struct Items<'a> {
    /// For each scope, what its names stand for; those of the block's own items are not among them.
    scopes: Vec<BTreeMap<&'a str, &'a str>>,
    /// The scopes of items of other blocks.
    homes: BTreeMap<&'a str, usize>,
    /// What stands before the names of such items.
    blocks: Vec<String>,
    /// Functions by name.
    pub(super) functions: BTreeMap<&'a str, &'a Function>,
    /// Structs by name.
    pub(super) structs: BTreeMap<&'a str, &'a Struct>,
    /// The structs whose declarations have errors.
    pub(super) broken: BTreeSet<&'a str>,
    /// Constants by name.
    pub(super) consts: BTreeMap<&'a str, Value>,
    /// The functions that are written in the language itself.
    pub(super) prelude: Prelude,
}

impl<'a> Items<'a> {
    /// With the scopes of a block and of those that it imports from.
    pub(super) fn new(block: &'a Block) -> Items<'a> {
        let imports = |name: &'a Ident, import: &'a Import| (name.text.as_str(), import.item.as_str());
        let own = block.uses.iter().filter_map(|used| Some(imports(&used.name, used.home.as_ref()?)));
        let mut items = Items { scopes: vec![own.collect(), BTreeMap::new()], ..Items::default() };
        for module in &block.modules {
            let home = items.scopes.len();
            let names = module.items.iter().map(|item| item.name().text.as_str());
            items.homes.extend(names.clone().map(|name| (name, home)));
            let imported = module.imports.iter().map(|(name, import)| (name.as_str(), import.item.as_str()));
            items.scopes.push(names.map(|name| (plain_name(name), name)).chain(imported).collect());
            items.blocks.push(format!("{}/", module.id));
        }
        items
    }

    /// The scope of the other block of that index.
    pub(super) fn scope_of(module: usize) -> usize {
        MODULES + module
    }

    /// The scope of the text of an item.
    pub(super) fn home(&self, item: &str) -> usize {
        self.homes.get(item).copied().unwrap_or(OWN)
    }

    /// Whether an item is one of another block.
    pub(super) fn is_imported(&self, item: &str) -> bool {
        self.homes.contains_key(item)
    }

    /// What a name in a scope stands for, among things of one kind.
    fn find<'i, T>(&self, kind: &'i BTreeMap<&'a str, T>, scope: usize, name: &str) -> Option<&'i T> {
        // An import under the name of an item has been refused, and what is said of it is enough.
        let own = if scope == OWN { kind.get(name) } else { None };
        own.or_else(|| kind.get(self.scopes.get(scope)?.get(name)?))
    }

    /// A text with names of other blocks as their texts have them.
    pub(super) fn plain(&self, text: String) -> String {
        self.blocks.iter().fold(text, |text, block| text.replace(block, ""))
    }
}

/// Checks one function and everything that is inlined into it.
pub(super) struct Checker<'a> {
    /// The block.
    pub(super) items: &'a Items<'a>,
    /// What has been built.
    pub(super) graph: Graph,
    /// The visible names of each function that is being inlined, innermost last.
    pub(super) frames: Vec<Frame>,
    /// The functions of the block that are being inlined, outermost first.
    pub(super) inlined: Vec<String>,
    /// The names of all functions that are being checked, to find recursion; empty ones for those of the prelude.
    pub(super) active: Vec<String>,
    /// The call of the user that led into the prelude, and the name of the function called.
    pub(super) library: Option<(Origin, String)>,
    /// The call of the block that led into the text of another one.
    pub(super) abroad: Option<Origin>,
    /// The errors found.
    pub(super) reports: Vec<Report>,
    /// For integer inputs that are used as indices: the least extent that they index.
    pub(super) index_bounds: BTreeMap<u32, Dim>,
    /// How many variables have been made.
    pub(super) variables: u32,
    /// How many values of closures' parameters have been made.
    pub(super) placeholders: u32,
    /// How many calls have been inlined.
    pub(super) inlinings: u32,
    /// How many steps of loops have been unrolled.
    pub(super) loop_steps: usize,
    /// The structs that have been laid out, each with its dimensions.
    pub(super) layouts: BTreeMap<(String, Vec<Dim>), Layout>,
    /// The structs whose fields are being read, to find those that contain themselves.
    pub(super) structs: Vec<String>,
    /// Divisors that must be shown to be positive once all facts are known, while these are being read.
    pub(super) divisors: Option<Vec<(Dim, Origin)>>,
    /// Whether the value of a constant is read: then constants before it are numbers without a type.
    pub(super) in_constant: bool,
}

/// The names that one function sees.
#[derive(Debug, Default)]
pub(super) struct Frame {
    /// Parameters and `let` names in order; later ones shadow earlier ones.
    pub(super) bindings: Vec<Binding>,
    /// Whose items the text sees.
    pub(super) scope: usize,
    /// How many of the bindings lie outside of the closure that is being read.
    pub(super) outside: usize,
    /// Dimension symbols; `None` until an argument determines it.
    pub(super) dims: BTreeMap<String, Option<Dim>>,
    /// Generic element types.
    pub(super) elems: BTreeMap<String, GenericElem>,
    /// Generic types of any kind, each with the value that determined it.
    pub(super) models: BTreeMap<String, Option<Value>>,
    /// Generic leading axes.
    pub(super) axes: BTreeMap<String, Option<Vec<Dim>>>,
    /// Names by which a derivative is taken, so that their values are variables.
    pub(super) targets: BTreeSet<String>,
}

/// A name with its value.
#[derive(Debug)]
pub(super) struct Binding {
    /// The name.
    pub(super) name: String,
    /// Its present value.
    pub(super) value: Value,
    /// Whether it is a state parameter.
    pub(super) state: bool,
    /// Whether it may be assigned: a state parameter, or a name bound by `let mut`.
    pub(super) assignable: bool,
}

/// A generic element type.
#[derive(Clone, Debug)]
pub(super) struct GenericElem {
    /// `float`, `int` or `number`.
    pub(super) bound: String,
    /// The type, once an argument determines it.
    pub(super) dtype: Option<DType>,
}

impl Frame {
    /// The scope of a function: that of the prelude, or of the function's block.
    pub(super) fn home(items: &Items<'_>, function: &Function, library: bool) -> usize {
        if library { LIBRARY } else { items.home(&function.name.text) }
    }

    /// Binds a name.
    pub(super) fn bind(&mut self, name: impl Into<String>, value: Value) {
        self.bindings.push(Binding { name: name.into(), value, state: false, assignable: false });
    }
}

/// The element type of that name.
pub(super) fn dtype_by_name(name: &str) -> Option<DType> {
    DType::ALL.into_iter().find(|dtype| dtype.name() == name)
}

impl<'a> Checker<'a> {
    /// A checker with an empty graph.
    pub(super) fn new(items: &'a Items<'a>) -> Checker<'a> {
        Checker {
            items,
            graph: Graph::default(),
            frames: Vec::new(),
            inlined: Vec::new(),
            active: Vec::new(),
            library: None,
            abroad: None,
            reports: Vec::new(),
            index_bounds: BTreeMap::new(),
            variables: 0,
            placeholders: 0,
            inlinings: 0,
            loop_steps: 0,
            layouts: BTreeMap::new(),
            structs: Vec::new(),
            divisors: None,
            in_constant: false,
        }
    }

    /// The names of the function whose text is being read.
    pub(super) fn frame(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::default());
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// The items that the text at hand sees.
    fn scope(&self) -> usize {
        self.frames.last().map_or(OWN, |frame| frame.scope)
    }

    /// The function that a name means.
    pub(super) fn function_named(&self, name: &str) -> Option<&'a Function> {
        self.items.find(&self.items.functions, self.scope(), name).copied()
    }

    /// The struct that a name means.
    pub(super) fn struct_named(&self, name: &str) -> Option<&'a Struct> {
        self.items.find(&self.items.structs, self.scope(), name).copied()
    }

    /// The value of the constant that a name means.
    pub(super) fn const_named(&self, name: &str) -> Option<&'a Value> {
        self.items.find(&self.items.consts, self.scope(), name)
    }

    /// All names of one kind that the text at hand sees.
    pub(super) fn names_of<'i, T>(
        &'i self,
        kind: &'i BTreeMap<&'a str, T>,
    ) -> impl Iterator<Item = &'a str> + 'i {
        let imported = self.items.scopes.get(self.scope()).into_iter().flatten();
        let imported = imported.filter(|(_, item)| kind.contains_key(*item)).map(|(name, _)| *name);
        let own = kind.keys().copied().filter(|name| self.scope() == OWN && !self.items.is_imported(name));
        own.chain(imported)
    }

    /// The value of a name: a binding, a dimension, a constant of the block, or an element type.
    pub(super) fn lookup(&mut self, name: &str, at: Origin) -> Checked<Value> {
        if let Some(frame) = self.frames.last() {
            if let Some(binding) = frame.bindings.iter().rev().find(|binding| binding.name == name) {
                return match &binding.value {
                    Value::Error => Err(Stop::Reported),
                    value => Ok(value.clone()),
                };
            }
            match frame.dims.get(name) {
                Some(Some(dim)) => return Ok(Value::Dim(dim.clone())),
                Some(None) => return Err(self.open_symbol(name, at)),
                None => {}
            }
            if let Some(GenericElem { dtype: Some(dtype), .. }) = frame.elems.get(name) {
                return Ok(Value::Elem(*dtype));
            }
        }
        if let Some(value) = self.const_named(name) {
            return match value {
                Value::Error => Err(Stop::Reported),
                Value::Constant(literal, _) if self.in_constant => Ok(Value::Literal(literal.clone())),
                value => Ok(value.clone()),
            };
        }
        match dtype_by_name(name) {
            Some(dtype) => Ok(Value::Elem(dtype)),
            None => Err(self.unknown_name(name, at)),
        }
    }

    /// The error of a symbol of a helper that the call leaves open.
    pub(super) fn open_symbol(&mut self, name: &str, at: Origin) -> Stop {
        let message = format!("no argument of this call says what `{name}` is");
        let diagnostic = Diagnostic::new("symbol-open", message, at);
        self.report(diagnostic.help("pass it as a parameter of its own: `n: int`"))
    }

    fn unknown_name(&mut self, name: &str, at: Origin) -> Stop {
        let mut diagnostic = Diagnostic::new("unknown-name", format!("there is no `{name}` here"), at);
        let is_function = self.function_named(name).is_some()
            || builtins::names().any(|candidate| candidate == name)
            || has_public(name);
        let visible = self.frames.last().into_iter().flat_map(|frame| {
            frame
                .bindings
                .iter()
                .map(|binding| binding.name.as_str())
                .chain(frame.dims.keys().map(String::as_str))
        });
        if is_function {
            diagnostic = diagnostic.help(format!("`{name}` is a function: call it, `{name}(..)`"));
        } else if let Some(close) = closest(name, visible.chain(self.names_of(&self.items.consts))) {
            diagnostic = diagnostic.help(format!("did you mean `{close}`?"));
        }
        self.report(diagnostic)
    }

    /// The error of a call to a function that does not exist.
    pub(super) fn unknown_function(&mut self, name: &Ident) -> Stop {
        let message = format!("there is no function `{}`", name.text);
        let mut diagnostic = Diagnostic::new("unknown-function", message, name.at);
        let known = self.names_of(&self.items.functions).chain(builtins::names()).chain(Prelude::names());
        if let Some(close) = closest(&name.text, known) {
            diagnostic = diagnostic.help(format!("did you mean `{close}`?"));
        }
        self.report(diagnostic)
    }

    /// Adds a node; inside the prelude it belongs to the user's call.
    pub(super) fn add(&mut self, op: Op, inputs: &[NodeId], at: Origin) -> Checked<NodeId> {
        let at = self.library.as_ref().map_or(at, |(call, _)| *call);
        Ok(self.graph.add(op, inputs, at)?)
    }

    /// Makes a variable of its own of a value that a derivative is taken by.
    pub(super) fn variable(&mut self, value: Value, at: Origin) -> Checked<Value> {
        match value {
            Value::Node(id) => {
                let variable = Op::Variable(self.variables);
                self.variables += 1;
                Ok(Value::Node(self.add(variable, &[id], at)?))
            }
            Value::Tuple(mut items) => {
                for item in &mut items {
                    item.value = self.variable(item.value.clone(), item.at)?;
                }
                Ok(Value::Tuple(items))
            }
            value @ (Value::Struct(_) | Value::Array(_)) => {
                self.map_leaves(&value, &mut |checker, leaf| match checker.variable(Value::Node(leaf), at)? {
                    Value::Node(id) => Ok(id),
                    _ => Err(Stop::Reported),
                })
            }
            other => Ok(other),
        }
    }
}
