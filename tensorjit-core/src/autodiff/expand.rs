//! The rebuilding of a graph with every derivative node replaced.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::batch;
use super::flow::Strand;
use super::linearize::{apply, linearize};
use super::transpose::{Cotangent, transpose};
use crate::diag::{Bug, Failure, Origin};
use crate::graph::ops::custom::Custom;
use crate::graph::ops::derivative::Derivative;
use crate::graph::ops::scan::{Output, Scan};
use crate::graph::ops::site::Site;
use crate::graph::{Graph, NodeId, Op, Type};

/// The graph without derivative nodes, and without what no output needs.
pub(super) fn expand(old: &Graph) -> Result<Graph, Failure> {
    let new = Graph::new(old.facts.clone(), old.inputs.clone());
    let mut expansion = Expansion {
        old,
        live: old.reachable(&old.outputs),
        image: vec![None; old.len()],
        new,
        gradients: BTreeMap::new(),
        bodies: Vec::new(),
        maps: BTreeMap::new(),
    };
    for id in old.ids() {
        if expansion.live[id.0 as usize] {
            let image = expansion.node(id)?;
            expansion.image[id.0 as usize] = Some(image);
        }
    }
    let outputs = old.outputs.iter().map(|output| expansion.image(*output)).collect::<Result<_, _>>()?;
    let mut new = expansion.new;
    new.outputs = outputs;
    let kept: Vec<bool> = (0..new.inputs.len()).map(|position| position < old.inputs.len()).collect();
    Ok(new.prune(&kept)?)
}

/// A scalar and a seed that is not 1: what gradients are found for, all variables at once.
type Target = (NodeId, Option<NodeId>);

struct Expansion<'a> {
    old: &'a Graph,
    live: Vec<bool>,
    /// What stands for each node of the old graph.
    image: Vec<Option<NodeId>>,
    new: Graph,
    /// Gradients found so far, by target and variable.
    gradients: BTreeMap<(Target, NodeId), NodeId>,
    /// For each scan of the old graph that is a map: its results.
    maps: BTreeMap<NodeId, Vec<NodeId>>,
    /// Bodies before and after.
    bodies: Vec<(Arc<Graph>, Arc<Graph>)>,
}

impl Expansion<'_> {
    fn image(&self, id: NodeId) -> Result<NodeId, Bug> {
        self.image[id.0 as usize]
            .ok_or_else(|| Bug::new("autodiff", format!("{id:?} is used before it is built")))
    }

    fn node(&mut self, id: NodeId) -> Result<NodeId, Failure> {
        let node = self.old.node(id);
        let inputs = node.inputs.iter().map(|input| self.image(*input)).collect::<Result<Vec<_>, _>>()?;
        let origin = self.old.origin(id);
        match &node.op {
            Op::Derivative(kind) => self.derivative(id, *kind, &inputs),
            Op::Scan(scan) => {
                let body = self.body(&scan.body)?;
                let scan = Scan { body, ..scan.clone() };
                match batch::map(&mut self.new, &scan, &inputs, origin)? {
                    None => Ok(self.new.add(Op::Scan(scan), &inputs, origin)?),
                    Some(results) => {
                        // Its results are taken from here; nothing reads the scan itself.
                        let stands = results.first().or(inputs.first()).copied();
                        self.maps.insert(id, results);
                        Ok(stands.ok_or_else(|| Bug::new("autodiff", format!("{id:?} gives nothing")))?)
                    }
                }
            }
            Op::Custom(custom) => {
                let rule = self.body(&custom.rule)?;
                Ok(self.new.add(Op::Custom(Custom { rule, ..custom.clone() }), &inputs, origin)?)
            }
            Op::Output(Output(result)) if self.maps.contains_key(&node.inputs[0]) => {
                let found = self.maps[&node.inputs[0]].get(*result).copied();
                Ok(found.ok_or_else(|| Bug::new("autodiff", format!("{id:?} is no result of a map")))?)
            }
            op => Ok(self.new.add(op.clone(), &inputs, origin)?),
        }
    }

    /// The expanded body; several results of one body keep sharing it.
    fn body(&mut self, old: &Arc<Graph>) -> Result<Arc<Graph>, Failure> {
        if let Some((_, new)) = self.bodies.iter().find(|(known, _)| Arc::ptr_eq(known, old)) {
            return Ok(new.clone());
        }
        let new = Arc::new(expand(old)?);
        self.bodies.push((old.clone(), new.clone()));
        Ok(new)
    }

    fn derivative(&mut self, id: NodeId, kind: Derivative, inputs: &[NodeId]) -> Result<NodeId, Failure> {
        match (kind, inputs) {
            (Derivative::Grad, [y, x]) => self.gradient(id, (*y, None), *x),
            (Derivative::Vjp, [y, x, seed]) => self.gradient(id, (*y, Some(*seed)), *x),
            (Derivative::Jvp, [y, x, seed]) => self.directional(id, *y, *x, *seed),
            (Derivative::Hvp, [y, x, vector]) => {
                let gradient = self.gradient(id, (*y, None), *x)?;
                self.directional(id, gradient, *x, *vector)
            }
            _ => Err(Bug::new("autodiff", format!("{} of {} operands", kind.name(), inputs.len())).into()),
        }
    }

    /// The tangent of `y` for the tangent `seed` of `x`.
    fn directional(&mut self, id: NodeId, y: NodeId, x: NodeId, seed: NodeId) -> Result<NodeId, Failure> {
        let linear = linearize(&mut self.new, &[y], &[(x, Strand::Linear)])?;
        match apply(&mut self.new, &linear, &[seed])? {
            Some(tangent) => Ok(tangent),
            None => Ok(self.zeros(id, y)?),
        }
    }

    /// The cotangent of `x`, found together with those of all other variables that the old graph asks for.
    fn gradient(&mut self, id: NodeId, target: Target, x: NodeId) -> Result<NodeId, Failure> {
        if let Some(found) = self.gradients.get(&(target, x)) {
            return Ok(*found);
        }
        let variables = self.variables(target, x)?;
        let origin = self.old.origin(id);
        let sources: Vec<(NodeId, Strand)> = variables.iter().map(|x| (*x, Strand::Linear)).collect();
        let mut linear = linearize(&mut self.new, &[target.0], &sources)?;
        let cotangents = match linear.tangents[0] {
            Some(tangent) => {
                let seed = self.seed(target, origin)?;
                let seed = Cotangent { node: seed, masked: false };
                transpose(&mut self.new, &mut linear.flow, &linear.placeholders, &[(tangent, seed)])?
            }
            None => vec![None; variables.len()],
        };
        for (variable, cotangent) in variables.iter().zip(cotangents) {
            let found = match cotangent {
                Some(cotangent) => cotangent.node,
                None => self.zeros(id, *variable)?,
            };
            self.gradients.insert((target, *variable), found);
        }
        let found = self.gradients.get(&(target, x)).copied();
        found.ok_or_else(|| Bug::new("autodiff", format!("no gradient by {x:?}")).into())
    }

    /// The variables by which the target is differentiated anywhere, `first` among them, each once.
    ///
    /// One that is not built yet comes after the target, which cannot depend on it.
    fn variables(&self, target: Target, first: NodeId) -> Result<Vec<NodeId>, Bug> {
        let mut found = vec![first];
        for id in self.old.ids().filter(|id| self.live[id.0 as usize]) {
            let node = self.old.node(id);
            let seed = match (&node.op, node.inputs.get(2)) {
                (Op::Derivative(Derivative::Grad | Derivative::Hvp), _) => None,
                (Op::Derivative(Derivative::Vjp), Some(seed)) => Some(self.image[seed.0 as usize]),
                _ => continue,
            };
            let (Some(y), Some(x)) = (node.inputs.first(), node.inputs.get(1)) else { continue };
            let (Some(y), Some(x)) = (self.image[y.0 as usize], self.image[x.0 as usize]) else { continue };
            let same =
                y == target.0 && seed.map_or(target.1.is_none(), |seed| seed.is_some() && seed == target.1);
            if same && x <= target.0 && !found.contains(&x) {
                found.push(x);
            }
        }
        Ok(found)
    }

    fn seed(&mut self, target: Target, origin: Origin) -> Result<NodeId, Bug> {
        match target {
            (_, Some(seed)) => Ok(seed),
            (y, None) => {
                let ty = self.new.ty(y).clone();
                Site { graph: &mut self.new, node: y, inputs: &[], origin }.full(&ty, 1.0)
            }
        }
    }

    fn zeros(&mut self, id: NodeId, like: NodeId) -> Result<NodeId, Bug> {
        let ty: Type = self.new.ty(like).clone();
        let origin = self.old.origin(id);
        Site { graph: &mut self.new, node: like, inputs: &[], origin }.zeros(&ty)
    }
}
