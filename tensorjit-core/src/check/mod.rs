//! From the syntax tree to the typed graph: names, shapes, types and literals.
//!
//! Every function of a block is checked; the public ones come out as graphs into which their helpers and the
//! prelude have been inlined.  What is implicit in the text is explicit in the graph: broadcasts, conversions of
//! literals, variables that derivatives are taken by.  A side condition on dimensions is proven, or it is an
//! error that says whether it is false or which `where` clause would make it true.

mod builtins;
mod call;
mod consts;
mod derive;
mod dims;
mod elementwise;
mod expr;
mod function;
mod index;
mod inline;
mod literal;
mod prelude;
mod report;
mod scope;
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
use crate::diag::{Diagnostic, Failure, Origin};
use crate::dim::Dim;
use crate::dim::facts::Condition;
use crate::graph::{Graph, Type};
use crate::syntax::ast::{Block, Function, Item};

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
    /// Parameters in order; `graph.inputs` has the same order.
    pub params: Vec<CheckedParam>,
    /// Results in order, named `result`, or `result.0` and so on for a tuple.
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

/// A parameter that has been checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedParam {
    /// Its name.
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
    let mut reports: Vec<Report> = Vec::new();
    let mut items = Items::default();
    let mut functions: Vec<&Function> = Vec::new();
    let mut names: BTreeMap<&str, Origin> = BTreeMap::new();
    for item in &block.items {
        let name = match item {
            Item::Fn(function) => &function.name,
            Item::Const(constant) => &constant.name,
        };
        if names.insert(&name.text, name.at).is_some() {
            let message = format!("`{}` is defined twice in this block", name.text);
            let diagnostic = Diagnostic::new("duplicate-name", message, name.at);
            reports.push(Report { through: Vec::new(), diagnostic });
            continue;
        }
        match item {
            Item::Fn(function) => {
                items.functions.insert(&function.name.text, function);
                functions.push(function);
            }
            Item::Const(constant) => {
                let (found, value) = consts::value(&items, constant)?;
                reports.extend(found);
                items.consts.insert(&constant.name.text, value);
            }
        }
    }
    let mut checked = Vec::new();
    let mut broken: BTreeSet<&str> = BTreeSet::new();
    for function in functions {
        let found = match function.public || inline::stands_alone(function) {
            true => {
                let (found, result) = function::check(&items, function);
                checked.extend(result?.filter(|function| function.public));
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
