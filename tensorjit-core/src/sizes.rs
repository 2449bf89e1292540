//! The dimension expressions inside a function that a call must evaluate before native code runs.
//!
//! Proofs about dimensions are about integers, and kernels compute with wrapping `i64`.  Both agree where every
//! expression that a kernel uses has a value of 64 bits.  The runtime evaluates the extents of arguments, results and
//! workspace anyway; what these do not cover is listed here, and is evaluated with checks at each call.

use std::collections::BTreeSet;

use crate::diag::{Diagnostic, Failure, Origin};
use crate::dim::facts::{Condition, Facts, SymbolInfo};
use crate::dim::program::{TooLarge, compile};
use crate::dim::{Atom, Dim, Monomial, Sym};
use crate::graph::{Graph, NodeId, Op, Type};

/// An expression with the least value that it may have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size {
    /// The expression.
    pub value: Dim,
    /// 0 for extents, the least number for what may be negative.
    pub least: i64,
}

/// What of the graph's dimension arithmetic nothing else at a call evaluates, each expression once.
///
/// The sides of the conditions that choose a version among `versions` are evaluated by native code too.
///
/// `workspace` is evaluated at each call, as are the `where` clauses and the shapes of inputs and results.  An
/// expression whose factors exceed 64 bits is an error at the place where it comes from.
pub fn unchecked(graph: &Graph, workspace: &Dim, versions: &[Vec<Condition>]) -> Result<Vec<Size>, Failure> {
    let mut used = BTreeSet::new();
    for (id, needed) in graph.ids().zip(graph.reachable(&graph.outputs)) {
        if needed {
            collect(graph, id, &mut used)?;
        }
    }
    for Condition { left, right, .. } in versions.iter().flatten() {
        used.extend([left, right].map(|side| Size { value: side.clone(), least: i64::MIN }));
    }
    let mut covers = Covers::of_call(graph, workspace);
    // What is larger comes first, since it may cover what is smaller.
    let mut used: Vec<Size> = used.into_iter().collect();
    used.sort_by_cached_key(|size| std::cmp::Reverse(degree(&size.value)));
    let mut sizes: Vec<Size> = Vec::new();
    for size in used {
        if !covers.has(&size.value) {
            covers.add(&size.value);
            sizes.push(size);
        }
    }
    Ok(sizes)
}

/// The error for a dimension that no program of the runtime can compute.
pub fn too_large(facts: &Facts, dim: &Dim, at: Origin) -> Option<Diagnostic> {
    compile(dim).err().map(|problem| {
        let message = match problem {
            TooLarge::Factor(_) => format!("the size {} does not fit 64 bits", facts.show(dim)),
            TooLarge::Depth => "the size of this is nested too deeply".to_owned(),
        };
        Diagnostic::new("size", message, at)
    })
}

/// So many bytes a process can address.
const ADDRESSABLE: u128 = 1 << 47;

/// The error for a value whose constant extents alone are more than memory holds.  Strides are products of extents,
/// so that an extent of 0 makes none of the others smaller.
fn beyond_memory(facts: &Facts, ty: &Type, at: Origin) -> Option<Diagnostic> {
    let extents = ty.shape.iter().filter(|extent| !extent.is(0));
    let bytes = extents.fold(Dim::constant(ty.dtype.size() as i64), |product, extent| &product * extent);
    bytes.terms().iter().any(|(_, factor)| factor.unsigned_abs() > ADDRESSABLE).then(|| {
        let message = format!("no memory holds the extents {}", facts.show_shape(&ty.shape));
        Diagnostic::new("size", message, at)
    })
}

/// Adds the extents of a node, their product, and the dimensions among its attributes.
fn collect(graph: &Graph, id: NodeId, used: &mut BTreeSet<Size>) -> Result<(), Failure> {
    let node = graph.node(id);
    let shape = &node.ty.shape;
    if let Some(problem) = beyond_memory(&graph.facts, &node.ty, graph.origin(id)) {
        return Err(Failure::User(vec![problem]));
    }
    let count = shape.iter().fold(Dim::constant(1), |product, extent| &product * extent);
    let mut sizes: Vec<Size> = shape.iter().map(|extent| Size { value: extent.clone(), least: 0 }).collect();
    sizes.push(Size { value: count, least: 0 });
    attributes(&node.op, &mut sizes);
    if let Op::Scan(scan) = &node.op {
        scan.body.ids().try_for_each(|id| collect(&scan.body, id, used))?;
    }
    for size in sizes {
        if let Some(problem) = too_large(&graph.facts, &size.value, graph.origin(id)) {
            return Err(Failure::User(vec![problem]));
        }
        used.insert(size);
    }
    Ok(())
}

/// The dimensions among the attributes that are no extents of the result.
fn attributes(op: &Op, sizes: &mut Vec<Size>) {
    let free = |value: &Dim| Size { value: value.clone(), least: i64::MIN };
    match op {
        Op::DimValue(op) => sizes.push(free(&op.0)),
        Op::Slice(op) => sizes.extend(op.ranges.iter().map(|range| free(&range.start))),
        Op::Pad(op) => sizes.extend(op.axes.iter().map(|axis| free(&axis.low))),
        // All their dimensions are extents of the result or of operands.
        Op::Iota(_) | Op::Broadcast(_) | Op::Reshape(_) | Op::Window(_) | Op::Gather(_) | Op::Scatter(_) | Op::Output(_) => {}
        Op::Scan(op) => sizes.push(Size { value: op.count.clone(), least: 0 }),
        Op::Input(_)
        | Op::Constant(_)
        | Op::Elementwise(_)
        | Op::Permute(_)
        | Op::Concat(_)
        | Op::Reduce(_)
        | Op::ArgReduce(_)
        | Op::Contract(_)
        | Op::Cumulate(_)
        | Op::Sort(_)
        | Op::Cholesky(_)
        | Op::TriangularSolve(_)
        | Op::Solve(_)
        | Op::Determinant(_)
        | Op::Lu(_)
        | Op::Variable(_)
        | Op::StopGradient
        // These are gone once a graph is simplified.
        | Op::Derivative(_)
        | Op::Custom(_)
        | Op::CustomTangent(_)
        | Op::Placeholder(_) => {}
    }
}

/// Expressions that are known to be evaluated, with all that stands in them.
struct Covers<'f> {
    symbols: &'f [SymbolInfo],
    exact: BTreeSet<Dim>,
    /// Those that bound smaller ones: sums of products of symbols with positive factors.
    sums: Vec<Dim>,
}

impl<'f> Covers<'f> {
    /// What the runtime evaluates at each call anyway.
    fn of_call(graph: &'f Graph, workspace: &Dim) -> Covers<'f> {
        let mut covers = Covers { symbols: &graph.facts.symbols, exact: BTreeSet::new(), sums: Vec::new() };
        covers.add(workspace);
        let outputs = graph.outputs.iter().map(|id| graph.ty(*id));
        for ty in graph.inputs.iter().map(|input| &input.ty).chain(outputs) {
            ty.shape.iter().for_each(|extent| covers.add(extent));
            // Bytes of an argument or a result fit the address space, even where extents of 0 count as 1.
            let bytes = Dim::constant(ty.dtype.size() as i64);
            covers.add(&ty.shape.iter().fold(bytes, |product, extent| &product * extent));
        }
        for condition in &graph.facts.conditions {
            covers.add(&condition.left);
            covers.add(&condition.right);
        }
        covers
    }

    fn add(&mut self, dim: &Dim) {
        if !self.exact.insert(dim.clone()) {
            return;
        }
        if dim.terms().iter().all(|(monomial, factor)| *factor > 0 && is_plain(monomial)) {
            self.sums.push(dim.clone());
        }
        for (atom, _) in dim.terms().iter().flat_map(|(monomial, _)| monomial.0.iter()) {
            if let Some((a, b)) = operands(atom) {
                self.add(a);
                self.add(b);
            }
        }
    }

    /// Whether the expression has a value whenever the covers have theirs.
    fn has(&self, dim: &Dim) -> bool {
        if dim.as_const().is_some() || dim.as_sym().is_some() || self.exact.contains(dim) {
            return true;
        }
        let positive = dim.terms().iter().all(|(monomial, factor)| *factor > 0 && is_plain(monomial));
        positive && (self.greatest(dim).is_some() || self.sums.iter().any(|sum| dominates(sum, dim)))
    }

    /// The greatest value by the bounds of the symbols, where that fits.
    fn greatest(&self, dim: &Dim) -> Option<i64> {
        let sum = dim.terms().iter().try_fold(0_i128, |sum, (monomial, factor)| {
            let product = monomial.0.iter().try_fold(*factor, |product, (atom, power)| {
                let Atom::Sym(Sym(index)) = atom else { return None };
                let high = i128::from(self.symbols.get(*index as usize)?.high);
                product.checked_mul(high.checked_pow(*power)?)
            })?;
            sum.checked_add(product)
        })?;
        i64::try_from(sum).ok()
    }
}

/// Whether every term of `dim` stands in `sum`, with a factor at least as large.
fn dominates(sum: &Dim, dim: &Dim) -> bool {
    let factor = |wanted: &Monomial| {
        sum.terms().iter().find(|(monomial, _)| monomial == wanted).map_or(0, |(_, factor)| *factor)
    };
    dim.terms().iter().all(|(monomial, least)| factor(monomial) >= *least)
}

/// Whether it is a product of symbols.
fn is_plain(monomial: &Monomial) -> bool {
    monomial.0.iter().all(|(atom, _)| matches!(atom, Atom::Sym(_)))
}

fn operands(atom: &Atom) -> Option<(&Dim, &Dim)> {
    match atom {
        Atom::Sym(_) => None,
        Atom::FloorDiv(a, b) | Atom::CeilDiv(a, b) | Atom::Mod(a, b) | Atom::Min(a, b) | Atom::Max(a, b) => {
            Some((a, b))
        }
    }
}

fn degree(dim: &Dim) -> u64 {
    let of = |monomial: &Monomial| monomial.0.iter().map(|(_, power)| u64::from(*power)).sum::<u64>();
    dim.terms().iter().map(|(monomial, _)| of(monomial)).max().unwrap_or(0)
}

#[cfg(all(test, feature = "syntax"))]
mod tests {
    use crate::pipeline::prepare;

    /// The texts of what must be evaluated in a function, without the workspace, which covers more.
    fn unchecked(text: &str) -> Vec<String> {
        let parsed = crate::syntax::parse_text(text);
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        let mut functions = crate::check::check(&parsed.block).unwrap();
        let graph = std::mem::take(&mut functions[0].graph);
        let prepared = prepare(graph, &[], &mut |_, _, _| {}).unwrap();
        let graph = prepared.graph();
        let sizes = super::unchecked(graph, &crate::dim::Dim::constant(0), &[]).unwrap();
        sizes.iter().map(|size| format!("{} >= {}", graph.facts.show(&size.value), size.least)).collect()
    }

    #[test]
    fn what_nothing_else_evaluates_is_listed() {
        let free = i64::MIN;
        let cases: &[(&str, &[String])] = &[
            ("f<N>(x: f32[N]) -> f32[N] { exp(x) * 2 }", &[]),
            ("f<B, N>(x: f32[B, N], w: f32[N, 8]) -> f32[B, 8] { relu(x @ w) }", &[]),
            // Of one argument, and less than another.
            (
                "f<N>(x: f32[2 * N + 1], y: f32[N, N]) -> f32 { sum(x[..N]) + sum(x[1..2 * N + 1]) + sum(y) }",
                &[],
            ),
            ("f<N: ..=1000>(x: f32[N]) -> f32 { sum(expand_dims(x, axis = 1) * x) }", &[]),
            ("f<N>(x: f32[N]) -> f32 { sum(expand_dims(x, axis = 1) * x + 1) }", &["N*N >= 0".to_owned()]),
            ("f<N>(x: f32[N]) -> f32 { sum(x) * ((N * N * N) as f32) }", &[format!("N*N*N >= {free}")]),
            (
                "f<N>(x: f32[N]) -> f32 { sum(x[..min(N * N * N * N, N)]) }",
                &["min(N, N*N*N*N) >= 0".to_owned()],
            ),
            (
                "f<T, K: 1..>(x: f32[T + K], a: f32[T], b: f32[K]) -> f32 { sum(x[T..K * ceil_div(T, K)]) + sum(a) + sum(b) }",
                &["K*ceil_div(T, K) - T >= 0".to_owned()],
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(unchecked(&format!("pub fn {text}")), *expected, "{text}");
        }
    }

    #[test]
    fn sizes_beyond_64_bits_are_errors_of_the_user() {
        let grid = |n: i64| format!("expand_dims(iota({n}) as f64, axis = 1) + iota({n}) as f64");
        let elements = format!("f() -> f64 {{ sum(sin({})) }}", grid(3_037_000_500));
        // The elements fit, but not the bytes that the workspace takes.
        let bytes = format!("f() -> f64 {{ let a = sin({}); sum(a @ a) }}", grid(2_000_000_000));
        let extent = "9223372036854775807";
        let factor =
            format!("f<N>(x: f32[N * {extent}]) -> f32[N * {extent} * 3] {{ concat([x, x, x], axis = 0) }}");
        let argument = "f(x: f32[72057594037927936]) -> f32[72057594037927936] { tanh(x) }".to_owned();
        // Without elements, and yet with strides.
        let empty = "f(x: f32[0, 3, 4611686018427387904], w: f32[3, 5]) -> f32[0, 5, 4611686018427387904] \
            { einsum(\"bch,cf->bfh\", x, w) }";
        for text in [elements, bytes, factor, argument, empty.to_owned()] {
            let parsed = crate::syntax::parse_text(&format!("pub fn {text}"));
            let mut functions = crate::check::check(&parsed.block).unwrap();
            let graph = std::mem::take(&mut functions[0].graph);
            let prepared = prepare(graph, &[], &mut |_, _, _| {}).unwrap();
            let failure = prepared.lower(&[], &mut |_, _, _| {}).unwrap_err();
            let crate::diag::Failure::User(problems) = failure else { panic!("{failure}") };
            assert_eq!(problems[0].code, "size", "{text}: {problems:?}");
        }
    }
}
