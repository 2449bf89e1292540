//! Random numbers: the positions of a shape are counted here, what is made of them stands in the prelude.

use tensorjit_runtime::abi::DType;

use super::super::call::{Arg, Call};
use super::super::derive::lacking;
use super::super::report::Checked;
use super::super::scope::Checker;
use super::super::value::Value;
use crate::diag::Bug;
use crate::dim::Dim;
use crate::graph::Op;
use crate::graph::ops::iota::Iota;
use crate::graph::ops::reshape::{Reshape, count};

/// `rand::bits(key, shape)`.
pub(in super::super) fn bits(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(key), Some(shape)] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    checker.at_places("random_bits", call, key, shape)
}

/// `rand::uniform(key, shape, dtype)`.
pub(in super::super) fn uniform(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    floats(checker, call, ["random_uniform_f32", "random_uniform_f64"])
}

/// `rand::normal(key, shape, dtype)`.
pub(in super::super) fn normal(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    floats(checker, call, ["random_normal_f32", "random_normal_f64"])
}

/// `rand::bernoulli(key, p, shape)`.
pub(in super::super) fn bernoulli(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(key), Some(p), Some(shape)] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let places = checker.places(shape, call)?;
    checker.in_prelude("random_bernoulli", call, vec![key.clone(), p.clone(), places])
}

/// `rand::key(seed)`.
pub(in super::super) fn key(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    passed_on(checker, call, "random_key")
}

/// `rand::split(key, n)`.
pub(in super::super) fn split(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    passed_on(checker, call, "random_split")
}

/// `rand::fold_in(key, data)`.
pub(in super::super) fn fold_in(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    passed_on(checker, call, "random_fold_in")
}

/// `flat_indices(x)`: the position of each element in row-major order.
pub(in super::super) fn flat_indices(checker: &mut Checker<'_>, call: &Call<'_>) -> Checked<Value> {
    let [Some(x)] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let x = checker.typed(&x.value, x.expr.span)?;
    let shape = checker.graph.ty(x).shape.to_vec();
    checker.counted(&shape, call)
}

/// Floats of the type of the option, `f32` where it is not given.
fn floats(checker: &mut Checker<'_>, call: &Call<'_>, texts: [&str; 2]) -> Checked<Value> {
    let [Some(key), Some(shape), dtype] = call.args.as_slice() else { return Err(lacking(checker, call)) };
    let [single, double] = texts;
    let text = match dtype.as_ref().map(|arg| (&arg.value, arg.expr.span)) {
        None | Some((Value::Elem(DType::F32), _)) => single,
        Some((Value::Elem(DType::F64), _)) => double,
        Some((_, at)) => return checker.fail("option-value", at, "`dtype` is `f32` or `f64`"),
    };
    checker.at_places(text, call, key, shape)
}

fn passed_on(checker: &mut Checker<'_>, call: &Call<'_>, text: &str) -> Checked<Value> {
    match call.args.iter().cloned().collect::<Option<Vec<Arg<'_>>>>() {
        Some(args) => checker.in_prelude(text, call, args),
        None => Err(lacking(checker, call)),
    }
}

impl Checker<'_> {
    /// A function of the prelude, of the key and of the positions in a shape.
    fn at_places(&mut self, text: &str, call: &Call<'_>, key: &Arg<'_>, shape: &Arg<'_>) -> Checked<Value> {
        let places = self.places(shape, call)?;
        self.in_prelude(text, call, vec![key.clone(), places])
    }

    fn places<'c>(&mut self, shape: &Arg<'c>, call: &Call<'_>) -> Checked<Arg<'c>> {
        let at = shape.expr.span;
        let extents = self.value_shape(&shape.value, at)?;
        for extent in extents.iter() {
            self.demand_extent(extent, at)?;
        }
        let value = self.counted(&extents, call)?;
        Ok(Arg { expr: shape.expr, value })
    }

    /// The numbers from 0 on in a shape.
    fn counted(&mut self, shape: &[Dim], call: &Call<'_>) -> Checked<Value> {
        let counted = self.add(Op::Iota(Iota { dtype: DType::I64, extent: count(shape) }), &[], call.at)?;
        let op = Op::Reshape(Reshape { shape: shape.to_vec() });
        Ok(Value::Node(self.add(op, &[counted], call.at)?))
    }

    /// The call of a function of the prelude in the place of this one.
    fn in_prelude(&mut self, text: &str, call: &Call<'_>, args: Vec<Arg<'_>>) -> Checked<Value> {
        let Some(function) = self.items.prelude.function(text)? else {
            return Err(Bug::new("check", format!("the prelude has no `{text}`")).into());
        };
        let args = args.into_iter().map(Some).collect();
        self.inline(&function, &Call { name: call.name, at: call.at, args }, call.at, true)
    }
}
