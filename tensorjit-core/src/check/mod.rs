//! From the syntax tree to the typed graph: names, shapes, types and literals.
//!
//! Every function of a block is checked; the public ones come out as graphs into which their helpers and the
//! prelude have been inlined.  What is implicit in the text is explicit in the graph: broadcasts, conversions of
//! literals, variables that derivatives are taken by.  A side condition on dimensions is proven, or it is an
//! error that says whether it is false or which `where` clause would make it true.

mod assign;
mod branch;
mod builtins;
mod call;
mod consts;
mod custom;
mod derive;
pub(crate) mod described;
mod dims;
mod elementwise;
mod expr;
mod function;
mod index;
mod inline;
mod jacobian;
mod layout;
mod leaves;
mod literal;
mod loops;
mod prelude;
mod records;
mod report;
mod scope;
mod structs;
mod targets;
#[cfg(test)]
mod tests;
mod types;
mod value;
mod versions;

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use tensorjit_runtime::abi::{DType, Role};

use self::report::Report;
use self::scope::Items;
use crate::diag::{Bug, Diagnostic, Failure, Origin};
use crate::dim::Dim;
use crate::dim::facts::{Condition, Facts};
use crate::graph::{Graph, Type};
use crate::syntax::ast::{Block, Function, Item, Module, Struct};

pub use self::layout::{Layout, StructLayout};

/// A block that has been checked.
#[derive(Clone, Debug, Default)]
pub struct CheckedBlock {
    /// All structs in order.
    pub structs: Vec<CheckedStruct>,
    /// The public functions in order.
    pub functions: Vec<CheckedFunction>,
}

/// A struct that has been checked.
#[derive(Clone, Debug)]
pub struct CheckedStruct {
    /// Its name.
    pub name: String,
    /// Where its name stands.
    pub name_at: Origin,
    /// Documentation comments and other attributes, as written.
    pub attributes: Vec<TokenStream>,
    /// The visibility, as written.
    pub visibility: TokenStream,
    /// Whether a Rust item is emitted.
    pub public: bool,
    /// Its fields in order, whose dimensions are the symbols of `facts`.
    pub fields: Vec<CheckedField>,
    /// Its dimensions.
    pub facts: Facts,
}

/// A field of a struct that has been checked.
#[derive(Clone, Debug)]
pub struct CheckedField {
    /// Its name.
    pub name: String,
    /// Where its name stands.
    pub at: Origin,
    /// Documentation comments and other attributes, as written.
    pub attributes: Vec<TokenStream>,
    /// Its type.
    pub layout: Layout,
}

/// A public function that has been checked.
#[derive(Clone, Debug)]
pub struct CheckedFunction {
    /// Its name.
    pub name: String,
    /// Where its name stands.
    pub name_at: Origin,
    /// Documentation comments and other attributes, as written.
    pub attributes: Vec<TokenStream>,
    /// The visibility, as written.
    pub visibility: TokenStream,
    /// Whether a Rust item is emitted; true of all that [`check`] returns.
    pub public: bool,
    /// Parameters in order, as written.
    pub arguments: Vec<CheckedArgument>,
    /// The leaves of all parameters in order; `graph.inputs` has the same order.
    pub params: Vec<CheckedParam>,
    /// The result, or the parts of a tuple in order, as written.
    pub values: Vec<Layout>,
    /// The leaves of all results in order, named `result`, or `result.0` and so on for a tuple, and after it the path.
    pub results: Vec<(String, Type)>,
    /// Whether the result is written as a tuple.
    pub tuple: bool,
    /// The body.  Its outputs are the results in order, then the last value of each state parameter in order.
    pub graph: Graph,
    /// The `where` clauses as written, to be checked at each call; `graph.facts` knows more.
    pub conditions: Vec<Condition>,
    /// The cases that get versions of the code of their own, each with all its conditions, in the order in which
    /// they are tried.
    pub versions: Vec<Vec<Condition>>,
    /// The whole function.
    pub at: Origin,
}

/// A parameter as it is written.
#[derive(Clone, Debug)]
pub struct CheckedArgument {
    /// Its name.
    pub name: String,
    /// Its type.
    pub layout: Layout,
    /// [`Role::Input`], or [`Role::State`] for `&mut`.
    pub role: Role,
    /// Where its name stands.
    pub at: Origin,
}

/// A leaf of a parameter that has been checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedParam {
    /// Its path: the name of the parameter, or as `params.layers[3].w`.
    pub name: String,
    /// The element type.
    pub dtype: DType,
    /// The extents.
    pub shape: Vec<Dim>,
    /// [`Role::Input`], or [`Role::State`] for `&mut`.
    pub role: Role,
    /// Every value must lie in `0..bound`, for it is used as an index.
    pub index_bound: Option<Dim>,
    /// Where its name stands.
    pub at: Origin,
}

/// Checks all functions of a block and returns the public ones in order.
///
/// All errors of the user are collected, in the order of the text of the functions.
pub fn check(block: &Block) -> Result<Vec<CheckedFunction>, Failure> {
    check_block(block).map(|block| block.functions)
}

/// As [`check`], with the structs of the block.
pub fn check_block(block: &Block) -> Result<CheckedBlock, Failure> {
    let mut reports: Vec<Report> = Vec::new();
    let mut items = Items::new(block);
    for (index, module) in block.modules.iter().enumerate() {
        declare_module(&mut items, module, Items::scope_of(index), &mut reports)?;
    }
    let mut functions: Vec<&Function> = Vec::new();
    let mut structs: Vec<&Struct> = Vec::new();
    let mut names: BTreeMap<&str, Origin> = BTreeMap::new();
    let imported = block.uses.iter().map(|used| (&used.name, None));
    for (name, item) in block.items.iter().map(|item| (item.name(), Some(item))).chain(imported) {
        if names.insert(&name.text, name.at).is_some() {
            let message = format!("`{}` is defined twice in this block", name.text);
            let diagnostic = Diagnostic::new("duplicate-name", message, name.at);
            reports.push(Report { through: Vec::new(), diagnostic });
            continue;
        }
        match item {
            None => {}
            Some(Item::Fn(function)) => {
                items.functions.insert(&function.name.text, function);
                functions.push(function);
            }
            Some(Item::Struct(declared)) => {
                items.structs.insert(&declared.name.text, declared);
                structs.push(declared);
            }
            Some(Item::Const(constant)) => {
                let (found, value) = consts::value(&items, constant, scope::OWN)?;
                reports.extend(found);
                items.consts.insert(&constant.name.text, value);
            }
        }
    }
    let mut checked = CheckedBlock::default();
    for declared in structs {
        if scope::dtype_by_name(&declared.name.text).is_some() {
            let message = format!("`{}` is a type of the language", declared.name.text);
            let diagnostic = Diagnostic::new("reserved-name", message, declared.name.at);
            reports.push(Report { through: Vec::new(), diagnostic });
        }
        let (found, result) = structs::check(&items, declared);
        reports.extend(found);
        match result? {
            Some(declared) => checked.structs.push(declared),
            None => {
                items.broken.insert(&declared.name.text);
            }
        }
    }
    let mut broken: BTreeSet<&str> = BTreeSet::new();
    for function in functions {
        let found = match function.public || inline::stands_alone(function) {
            true => {
                let (found, result) = function::check(&items, function);
                checked.functions.extend(result?.filter(|function| function.public));
                found
            }
            false => function::check_signature(&items, function),
        };
        if found.iter().any(|report| report.through.is_empty()) {
            broken.insert(&function.name.text);
        }
        reports.extend(found);
    }
    let diagnostics = distinct(reports, &broken);
    match diagnostics.is_empty() {
        true => Ok(checked),
        false => Err(Failure::User(diagnostics)),
    }
}

/// Declares the items of another block, which has been checked where it stands.
fn declare_module<'a>(
    items: &mut Items<'a>,
    module: &'a Module,
    scope: usize,
    reports: &mut Vec<Report>,
) -> Result<(), Bug> {
    for item in &module.items {
        let name = item.name().text.as_str();
        match item {
            Item::Fn(function) => {
                items.functions.insert(name, function);
            }
            Item::Struct(declared) => {
                items.structs.insert(name, declared);
            }
            Item::Const(constant) => {
                let (found, value) = consts::value(items, constant, scope)?;
                reports.extend(found);
                items.consts.insert(name, value);
            }
        }
    }
    Ok(())
}

/// Each error once: what was found again while a broken function was inlined is dropped.
fn distinct(reports: Vec<Report>, broken: &BTreeSet<&str>) -> Vec<Diagnostic> {
    let mut seen = BTreeSet::new();
    let mut diagnostics = Vec::new();
    for Report { through, diagnostic } in reports {
        let again = through.iter().any(|function| broken.contains(function.as_str()));
        // A circle of calls is found from each of its functions.
        let place = if diagnostic.code == "recursion" { Origin::default() } else { diagnostic.at };
        if !again && seen.insert((diagnostic.code, place, diagnostic.message.clone())) {
            diagnostics.push(diagnostic);
        }
    }
    diagnostics
}
