//! What is known of the symbols, and what follows from it.

use tensorjit_runtime::abi::Relation;

use super::{Dim, Sym};

/// A declared symbol; bounds are inclusive.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SymbolInfo {
    /// The user's name.
    pub name: String,
    /// The least value, at least 0.
    pub low: i64,
    /// The greatest value.
    pub high: i64,
}

/// `left relation right`, from a `where` clause.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Condition {
    /// Left side.
    pub left: Dim,
    /// The relation.
    pub relation: Relation,
    /// Right side.
    pub right: Dim,
}

/// Whether a side condition holds for all values of the symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It always holds.
    Proven,
    /// It never holds.
    Refuted,
    /// It depends: the user must state it in a `where` clause.
    Open,
}

/// The symbols of a function, their bounds, and its `where` clauses.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Facts {
    /// In the order of declaration; [`Sym`] indexes it.
    pub symbols: Vec<SymbolInfo>,
    /// All `where` clauses.
    pub conditions: Vec<Condition>,
}

impl Facts {
    /// Decides `left relation right`.
    pub fn decide(&self, left: &Dim, relation: Relation, right: &Dim) -> Verdict {
        let _ = (left, relation, right);
        Verdict::Open
    }

    /// Whether two extents are equal for all values of the symbols.
    pub fn same(&self, a: &Dim, b: &Dim) -> bool {
        a == b || self.decide(a, Relation::Eq, b) == Verdict::Proven
    }

    /// The canonical form of `dim` modulo the equalities of the `where` clauses.
    pub fn normalize(&self, dim: &Dim) -> Dim {
        dim.clone()
    }

    /// The expression in the user's names.
    pub fn show(&self, dim: &Dim) -> String {
        dim.show(&|Sym(i)| self.symbols.get(i as usize).map_or_else(|| format!("?{i}"), |s| s.name.clone()))
            .to_string()
    }

    /// A shape in the user's names, `[B, 2*N]`.
    pub fn show_shape(&self, shape: &[Dim]) -> String {
        let extents: Vec<String> = shape.iter().map(|dim| self.show(dim)).collect();
        format!("[{}]", extents.join(", "))
    }
}
