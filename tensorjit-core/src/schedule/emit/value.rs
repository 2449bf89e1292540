//! What an element of a node is worth: inlined expressions down to loads of leaves.

use std::mem;

use tensorjit_runtime::abi::DType;

use super::{Emit, Stored, Var};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::graph::ops::constant::Constant;
use crate::graph::ops::indexing::{Indexed, Indexing};
use crate::graph::ops::{Guard, Source};
use crate::graph::{NodeId, Op};
use crate::lanes::{Cmp, Lanes, Prim, Val};
use crate::schedule::reads;
use crate::schedule::roots::Kind;

impl Emit<'_> {
    /// The element of `node` at `at`: a scalar where it is the same in all lanes.
    pub(super) fn value(&mut self, node: NodeId, at: &[Dim]) -> Result<Val, Bug> {
        if let Some((index, value)) = self.bound.get(&node)
            && index == at
        {
            return Ok(*value);
        }
        let guarded = self.guard.is_some();
        let key = (node, at.to_vec());
        if let Some(value) = self.row.get(&key) {
            return Ok(*value);
        }
        if !guarded && let Some(value) = self.memo.get(&key) {
            return Ok(*value);
        }
        let value = self.evaluate(node, at)?;
        if !guarded {
            self.memo.insert(key, value);
        }
        Ok(value)
    }

    fn evaluate(&mut self, node: NodeId, at: &[Dim]) -> Result<Val, Bug> {
        let graph = self.graph;
        if self.computing != Some(node)
            && let Some(stored) = self.stored.get(&node)
        {
            let (buf, offset) = (stored.buf, self.offset(stored, &graph.ty(node).shape, at));
            return self.load_at(buf, &offset);
        }
        let inputs = &graph.node(node).inputs;
        match &graph.node(node).op {
            Op::Input(input) => {
                let buf = self.arguments[*input as usize];
                self.load_at(buf, &reads::flat(&graph.ty(node).shape, at))
            }
            Op::Constant(constant) => Ok(match constant {
                Constant::Bool(value) => self.b.int(DType::Bool, i64::from(*value)),
                Constant::Int(dtype, value) => self.b.int(*dtype, *value as i64),
                Constant::Float(dtype, bits) => self.b.float(*dtype, f64::from_bits(*bits)),
            }),
            Op::DimValue(dim) => self.scalar_index(&dim.0),
            Op::Iota(iota) => {
                let index = self.lane_index(&at[0])?;
                Ok(self.b.prim(Prim::Convert(iota.dtype), &[index]))
            }
            Op::Elementwise(function) => {
                let args = inputs.iter().map(|id| self.value(*id, at)).collect::<Result<Vec<_>, _>>()?;
                self.apply(*function, &args)
            }
            Op::Reshape(_) if self.is_leaf(inputs[0]) && !reads::is_affine_reshape(graph, node, at) => {
                let offset = reads::flat(&graph.ty(node).shape, at);
                self.load_leaf(inputs[0], &offset)
            }
            Op::Gather(op) => {
                let place = self.place(&op.indexing, inputs[0], &inputs[1..], at)?;
                self.value(inputs[0], &place)
            }
            _ => match reads::sources(graph, node, at) {
                Some(sources) => self.choose(node, &sources),
                None => Err(Bug::new("schedule", format!("{node:?} cannot be inlined"))),
            },
        }
    }

    /// An elementwise function of values; scalars stay scalars.
    pub(super) fn apply(&mut self, function: crate::graph::table::Ew, args: &[Val]) -> Result<Val, Bug> {
        let width = args.iter().map(|v| self.b.lanes(*v)).max().unwrap_or(1);
        self.b.set_width(width);
        function.lower(&mut self.b, args)
    }

    pub(super) fn is_leaf(&self, node: NodeId) -> bool {
        self.stored.contains_key(&node) || matches!(self.graph.node(node).op, Op::Input(_))
    }

    pub(super) fn load_leaf(&mut self, node: NodeId, offset: &Dim) -> Result<Val, Bug> {
        let buf = match (&self.graph.node(node).op, self.stored.get(&node)) {
            (_, Some(Stored { buf, skip: 0, strip: false, .. })) => *buf,
            (Op::Input(input), None) => self.arguments[*input as usize],
            _ => return Err(Bug::new("schedule", format!("{node:?} is reshaped but stands in rows"))),
        };
        self.load_at(buf, offset)
    }

    /// The index into `source` that indices name for the gathered element at `at`.
    pub(super) fn place(
        &mut self,
        indexing: &Indexing,
        source: NodeId,
        indices: &[NodeId],
        at: &[Dim],
    ) -> Result<Vec<Dim>, Bug> {
        let graph = self.graph;
        let rank = graph.ty(indices[0]).rank();
        let (points, mut place) = indexing.split(at, rank, Dim::constant(0));
        for (Indexed { axis, window }, indices) in indexing.axes.iter().zip(indices) {
            let mut extent = graph.ty(source).shape[*axis].clone();
            if let Some(window) = window {
                extent = &(&extent - window) + &Dim::constant(1);
            }
            let index = self.value(*indices, points)?;
            place[*axis] = &place[*axis] + &self.clamped(index, &extent)?;
        }
        Ok(place)
    }

    /// A computed index as a loop variable, clamped into the axis.
    pub(super) fn clamped(&mut self, index: Val, extent: &Dim) -> Result<Dim, Bug> {
        let index = self.b.prim(Prim::Convert(DType::I64), &[index]);
        let last = self.scalar_index(&(extent - &Dim::constant(1)))?;
        let zero = self.int(0);
        let above = self.b.prim(Prim::Cmp(Cmp::Gt), &[index, last]);
        let index = self.b.prim(Prim::Select, &[above, last, index]);
        let below = self.b.prim(Prim::Cmp(Cmp::Lt), &[index, zero]);
        let index = self.b.prim(Prim::Select, &[below, zero, index]);
        let var = if self.b.lanes(index) == 1 { Var::Scalar(index) } else { Var::Vector(index) };
        Ok(Dim::sym(self.fresh(var)))
    }

    /// The first source whose guards hold; each is evaluated only in the lanes to which it applies.
    fn choose(&mut self, node: NodeId, sources: &[Source]) -> Result<Val, Bug> {
        let inputs = &self.graph.node(node).inputs;
        if let [source] = sources
            && source.guards.is_empty()
        {
            return self.value(inputs[source.operand], &source.index);
        }
        let outer = self.guard;
        let mut left = outer;
        let mut chosen: Vec<(Option<Val>, Val)> = Vec::new();
        for source in sources {
            let mut holds = None;
            for guard in &source.guards {
                let one = self.guard_value(guard)?;
                holds = Some(self.conjunction(holds, one));
            }
            self.guard = match holds {
                Some(holds) => Some(self.conjunction(left, holds)),
                None => left,
            };
            let value = self.value(inputs[source.operand], &source.index)?;
            chosen.push((holds, value));
            let Some(holds) = holds else { break };
            let fails = self.not(holds);
            left = Some(self.conjunction(left, fails));
        }
        self.guard = outer;
        let mut chosen = chosen.into_iter().rev();
        let Some((_, mut result)) = chosen.next() else {
            return Err(Bug::new("schedule", format!("{node:?} has no source")));
        };
        for (holds, value) in chosen {
            if let Some(holds) = holds {
                result = self.b.prim(Prim::Select, &[holds, value, result]);
            }
        }
        Ok(result)
    }

    fn guard_value(&mut self, guard: &Guard) -> Result<Val, Bug> {
        match guard {
            Guard::Within { value, extent } => {
                let (value, extent) = (self.lane_index(value)?, self.scalar_index(extent)?);
                let zero = self.int(0);
                let low = self.b.prim(Prim::Cmp(Cmp::Ge), &[value, zero]);
                let high = self.b.prim(Prim::Cmp(Cmp::Lt), &[value, extent]);
                Ok(self.b.prim(Prim::And, &[low, high]))
            }
            Guard::Divides { value, by } => {
                let rest = self.lane_index(&value.modulo(&Dim::constant(*by)))?;
                let zero = self.int(0);
                Ok(self.b.prim(Prim::Cmp(Cmp::Eq), &[rest, zero]))
            }
        }
    }

    fn conjunction(&mut self, a: Option<Val>, b: Val) -> Val {
        match a {
            Some(a) => self.b.prim(Prim::And, &[a, b]),
            None => b,
        }
    }

    fn not(&mut self, mask: Val) -> Val {
        let yes = self.b.int(DType::Bool, 1);
        self.b.prim(Prim::Xor, &[mask, yes])
    }

    /// Computes an element of a map, or folds one across rows.
    pub(super) fn compute(&mut self, root: usize, at: &[Dim]) -> Result<(), Bug> {
        if self.roots[root].kind == Kind::Across {
            return self.fold_element_across(root, at);
        }
        let node = self.roots[root].node;
        let outer = self.computing.replace(node);
        let value = self.evaluate(node, at)?;
        self.computing = outer;
        self.finish(root, at, value);
        Ok(())
    }

    /// Keeps an element that has been computed for later readers, and notes that it is to be stored.
    pub(super) fn finish(&mut self, root: usize, at: &[Dim], value: Val) {
        self.pending.push((root, at.to_vec(), value));
        if self.in_piece {
            self.row.insert((self.roots[root].node, at.to_vec()), value);
        }
        self.bound.insert(self.roots[root].node, (at.to_vec(), value));
    }

    /// Stores what has been computed at this element.  It comes after all roots of the stage have read what they
    /// need: one of them may overwrite a state that another reads.
    pub(super) fn flush(&mut self) -> Result<(), Bug> {
        for (root, at, value) in mem::take(&mut self.pending) {
            self.store(root, &at, value)?;
        }
        Ok(())
    }
}
