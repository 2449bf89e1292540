//! Literals and how they take their type from what they meet.

use std::collections::BTreeMap;
use std::rc::Rc;

use tensorjit_runtime::abi::DType;

use super::call::{Arg, Call};
use super::report::Checked;
use super::scope::{Checker, dtype_by_name};
use super::value::{Form, Kind, Literal, Operand, Placed, Value};
use crate::diag::{Diagnostic, Origin};
use crate::dim::Dim;
use crate::graph::ops::broadcast::Broadcast;
use crate::graph::ops::concat::Concat;
use crate::graph::ops::constant::Constant;
use crate::graph::ops::dim_value::DimValue;
use crate::graph::ops::iota::Iota;
use crate::graph::table::Ew;
use crate::graph::value::{round, round_int};
use crate::graph::{NodeId, Op};

/// How many operators on literals may lie one inside the other: building them is recursive.
const MAX_DEPTH: u32 = 256;

impl Checker<'_> {
    /// An integer as written, with or without a type.
    pub(super) fn int_literal(&mut self, value: i128, suffix: Option<&str>, at: Origin) -> Checked<Value> {
        let literal = Literal::int(value, at);
        match suffix {
            None => Ok(Value::Literal(Rc::new(literal))),
            Some(suffix) => self.suffixed(&literal, suffix, at),
        }
    }

    /// A float as written, with or without a type.
    pub(super) fn float_literal(&mut self, text: &str, suffix: Option<&str>, at: Origin) -> Checked<Value> {
        let digits = text.replace('_', "");
        let (Ok(double), Ok(single)) = (digits.parse(), digits.parse()) else {
            return self.fail("literal-range", at, format!("`{text}` is not a number that can be read"));
        };
        let form = Form::Float { double, single };
        let literal = Literal { kind: Kind::Float, shape: Vec::new(), form, at, depth: 0 };
        match suffix {
            None => Ok(Value::Literal(Rc::new(literal))),
            Some(suffix) => self.suffixed(&literal, suffix, at),
        }
    }

    fn suffixed(&mut self, literal: &Literal, suffix: &str, at: Origin) -> Checked<Value> {
        match dtype_by_name(suffix) {
            Some(dtype) if dtype != DType::Bool => Ok(Value::Node(self.settle(literal, dtype, at)?)),
            _ => {
                let found = Diagnostic::new("unknown-type", format!("`{suffix}` is no type of a number"), at);
                Err(self.report(found.help("write a type of numbers, such as `f32` or `i64`")))
            }
        }
    }

    /// Builds a literal with an element type that it meets at `at`.
    pub(super) fn settle(&mut self, literal: &Literal, dtype: DType, at: Origin) -> Checked<NodeId> {
        let (legal, what) = match literal.kind {
            Kind::Int => (dtype != DType::Bool, "a number"),
            Kind::Float => (dtype.is_float(), "a float"),
        };
        if !legal {
            let message = format!("this is {what}, where `{}` is needed", dtype.name());
            let mut diagnostic = Diagnostic::new("literal-type", message, literal.at);
            if at != literal.at {
                diagnostic = diagnostic.label(at, format!("because this is `{}`", dtype.name()));
            }
            if dtype.is_int() {
                diagnostic =
                    diagnostic.help("write an integer, or convert the other side, such as with `as f32`");
            }
            return Err(self.report(diagnostic));
        }
        self.build(literal, dtype, &mut BTreeMap::new())
    }

    /// Builds a literal; `built` has the shared parts that stand in the graph already.
    fn build(
        &mut self,
        literal: &Literal,
        dtype: DType,
        built: &mut BTreeMap<*const Literal, NodeId>,
    ) -> Checked<NodeId> {
        match &literal.form {
            Form::Int(value) => {
                let constant = self.int_constant(*value, dtype, literal.at)?;
                self.add(Op::Constant(constant), &[], literal.at)
            }
            Form::Float { double, single } => {
                let rounded = if dtype == DType::F32 { f64::from(*single) } else { round(dtype, *double) };
                if rounded.is_infinite() && double.is_finite() {
                    let message = format!("this number is beyond the greatest finite `{}`", dtype.name());
                    let diagnostic = Diagnostic::new("literal-range", message, literal.at);
                    return Err(self.report(diagnostic.help("infinity is written `1.0 / 0.0`")));
                }
                self.add(Op::Constant(Constant::Float(dtype, rounded.to_bits())), &[], literal.at)
            }
            Form::Iota(extent) => self.add(Op::Iota(Iota { dtype, extent: extent.clone() }), &[], literal.at),
            Form::Dim(dim) => {
                if let Some(value) = dim.as_const() {
                    let constant = self.int_constant(value.into(), dtype, literal.at)?;
                    return self.add(Op::Constant(constant), &[], literal.at);
                }
                let value = self.add(Op::DimValue(DimValue(dim.clone())), &[], literal.at)?;
                match dtype {
                    DType::I64 => Ok(value),
                    _ => self.add(Op::Elementwise(Ew::Cast(dtype)), &[value], literal.at),
                }
            }
            Form::Typed(id) => Ok(*id),
            Form::Apply(op, operands) => {
                if let Some(id) = built.get(&std::ptr::from_ref(literal)) {
                    return Ok(*id);
                }
                let mut nodes = Vec::with_capacity(operands.len());
                for operand in operands {
                    nodes.push(self.build(operand, dtype, built)?);
                }
                let id = self.add(op.clone(), &nodes, literal.at)?;
                built.insert(literal, id);
                Ok(id)
            }
        }
    }

    fn int_constant(&mut self, value: i128, dtype: DType, at: Origin) -> Checked<Constant> {
        match dtype {
            DType::F64 => return Ok(Constant::Float(dtype, (value as f64).to_bits())),
            DType::F32 => return Ok(Constant::Float(dtype, f64::from(value as f32).to_bits())),
            dtype if dtype.is_half() => {
                let rounded = round_int(dtype, value);
                if rounded.is_finite() {
                    return Ok(Constant::Float(dtype, rounded.to_bits()));
                }
                let message = format!("this number is beyond the greatest finite `{}`", dtype.name());
                return self.fail("literal-range", at, message);
            }
            _ => {}
        }
        let (least, greatest) = dtype.bounds();
        if (least..=greatest).contains(&value) {
            return Ok(Constant::Int(dtype, value));
        }
        let message = format!("{value} does not fit into `{}`", dtype.name());
        let help = format!("its values are {least} to {greatest}");
        Err(self.report(Diagnostic::new("literal-range", message, at).help(help)))
    }

    /// What an operator can be applied to; a list becomes a tensor.
    pub(super) fn operand(&mut self, value: &Value, at: Origin) -> Checked<Operand> {
        let what = match value {
            Value::Node(id) => return Ok(Operand::Node(*id)),
            Value::Literal(literal) => return Ok(Operand::Literal(literal.clone())),
            Value::Dim(dim) => {
                let op = match dim.as_const() {
                    Some(value) => Op::Constant(Constant::Int(DType::I64, value.into())),
                    None => Op::DimValue(DimValue(dim.clone())),
                };
                return Ok(Operand::Node(self.add(op, &[], at)?));
            }
            Value::Bool(value) => {
                return Ok(Operand::Node(self.add(Op::Constant(Constant::Bool(*value)), &[], at)?));
            }
            Value::Constant(literal, dtype) => {
                return Ok(Operand::Node(self.settle(literal, *dtype, at)?));
            }
            Value::List(items) => return self.tensor_literal(items, at),
            Value::Error => return Err(super::report::Stop::Reported),
            Value::Text(_) => "a string",
            Value::Elem(_) => "a type",
            Value::Tuple(_) => "a tuple",
            Value::Struct(_) | Value::Array(_) => {
                let found = self.show_value(value);
                let message = format!("a tensor is needed here, this is {found}");
                let diagnostic = Diagnostic::new("not-a-tensor", message, at);
                return Err(self.report(diagnostic.help("take a field of it")));
            }
            Value::Closure => "a closure, which only loops such as `scan` take",
            Value::Unit => "a block without a value",
        };
        self.fail("not-a-tensor", at, format!("a tensor is needed here, this is {what}"))
    }

    /// A tensor with an element type.
    pub(super) fn typed(&mut self, value: &Value, at: Origin) -> Checked<NodeId> {
        match self.operand(value, at)? {
            Operand::Node(id) => Ok(id),
            Operand::Literal(literal) => Err(self.open_literal(&literal, at)),
        }
    }

    /// The error of a literal whose type nothing determines.
    pub(super) fn open_literal(&mut self, literal: &Literal, at: Origin) -> super::report::Stop {
        let help = match (literal.is_number(), literal.kind) {
            (true, Kind::Int) => {
                "write the type after the number, such as `2i64` or `2f32`, or convert with `as`"
            }
            (true, Kind::Float) => "write the type after the number, such as `2.0f32`, or convert with `as`",
            (false, _) => "give one of its numbers a type, such as `2.0f32`, or convert it with `as f32`",
        };
        let diagnostic = Diagnostic::new("literal-open", "nothing here says which type this number has", at);
        self.report(diagnostic.help(help))
    }

    /// The shape of an operand.
    pub(super) fn shape(&self, operand: &Operand) -> Vec<Dim> {
        match operand {
            Operand::Node(id) => self.graph.ty(*id).shape.clone(),
            Operand::Literal(literal) => literal.shape.clone(),
        }
    }

    /// The type of an operand as errors show it; a literal has only a shape.
    pub(super) fn show_operand(&self, operand: &Operand) -> String {
        match operand {
            Operand::Node(id) => self.show_type(self.graph.ty(*id)),
            Operand::Literal(literal) if literal.shape.is_empty() => "a number".to_owned(),
            Operand::Literal(literal) => format!("numbers of shape {}", self.show_shape(&literal.shape)),
        }
    }

    /// Two arguments of one element type, broadcast to one shape.
    pub(super) fn pair(
        &mut self,
        call: &Call<'_>,
        a: &Arg<'_>,
        b: &Arg<'_>,
    ) -> Checked<([Operand; 2], Vec<Dim>)> {
        let (left, right) = (self.operand(&a.value, a.expr.span)?, self.operand(&b.value, b.expr.span)?);
        let operands = [(left, a.expr.span), (right, b.expr.span)];
        let found = self.unify(call.name, &operands, call.at)?;
        let [(left, _), (right, _)] = operands;
        let (x, y) = (self.shape(&left), self.shape(&right));
        let Ok(shape) = self.join_shapes(&x, &y) else {
            let shapes = format!("{} and {}", self.show_shape(&x), self.show_shape(&y));
            let message = format!("the shapes of `{}` do not fit: {shapes}", call.name);
            return self.fail("shape-mismatch", call.at, message);
        };
        let (left, right) = (self.settled(left, found)?, self.settled(right, found)?);
        let operands = [self.expand(left, &shape, call.at)?, self.expand(right, &shape, call.at)?];
        Ok((operands, shape))
    }

    /// Gives all operands one element type: that of those which have one.
    ///
    /// `None` where all are literals.  `what` names the operator in errors.
    pub(super) fn unify(
        &mut self,
        what: &str,
        operands: &[(Operand, Origin)],
        at: Origin,
    ) -> Checked<Option<Found>> {
        let mut first: Option<(NodeId, Origin)> = None;
        for (operand, place) in operands {
            let Operand::Node(id) = operand else { continue };
            let Some((known, known_at)) = first else {
                first = Some((*id, *place));
                continue;
            };
            let (left, right) = (self.graph.ty(known).dtype, self.graph.ty(*id).dtype);
            if left != right {
                let message = format!(
                    "`{what}` takes operands of one type, these are `{}` and `{}`",
                    left.name(),
                    right.name()
                );
                let diagnostic = Diagnostic::new("type-mismatch", message, at)
                    .label(known_at, format!("this is {}", self.show_type(self.graph.ty(known))))
                    .label(*place, format!("this is {}", self.show_type(self.graph.ty(*id))))
                    .help(conversion_help(left, right));
                return Err(self.report(diagnostic));
            }
        }
        Ok(first.map(|(id, at)| Found { dtype: self.graph.ty(id).dtype, at }))
    }

    /// Applies an operator that keeps the element type: to literals it gives a literal of shape `shape`.
    ///
    /// All operands are literals, or all have been settled.
    pub(super) fn apply(
        &mut self,
        op: Op,
        operands: &[Operand],
        shape: Vec<Dim>,
        at: Origin,
    ) -> Checked<Operand> {
        let nodes: Vec<NodeId> = operands
            .iter()
            .filter_map(|operand| match operand {
                Operand::Node(id) => Some(*id),
                Operand::Literal(_) => None,
            })
            .collect();
        if nodes.len() == operands.len() && !nodes.is_empty() {
            return Ok(Operand::Node(self.add(op, &nodes, at)?));
        }
        let literals: Vec<Rc<Literal>> = operands
            .iter()
            .map(|operand| match operand {
                Operand::Literal(literal) => literal.clone(),
                Operand::Node(id) => {
                    let shape = self.graph.ty(*id).shape.clone();
                    Rc::new(Literal { kind: Kind::Int, shape, form: Form::Typed(*id), at, depth: 0 })
                }
            })
            .collect();
        let kind = literals.iter().map(|literal| literal.kind).max().unwrap_or(Kind::Int);
        let depth = 1 + literals.iter().map(|literal| literal.depth).max().unwrap_or(0);
        if depth > MAX_DEPTH {
            let diagnostic =
                Diagnostic::new("too-deep", "a number without a type is computed in too many steps", at);
            return Err(self.report(diagnostic.help("give one of its numbers a type, such as `2.0f32`")));
        }
        Ok(Operand::Literal(Rc::new(Literal { kind, shape, form: Form::Apply(op, literals), at, depth })))
    }

    /// Repeats an operand to a shape that it broadcasts to, aligned at the last axis.
    pub(super) fn expand(&mut self, operand: Operand, shape: &[Dim], at: Origin) -> Checked<Operand> {
        let own = self.shape(&operand);
        if own == shape {
            return Ok(operand);
        }
        let axes = (shape.len() - own.len()..shape.len()).collect();
        let op = Op::Broadcast(Broadcast { shape: shape.to_vec(), axes });
        self.apply(op, &[operand], shape.to_vec(), at)
    }

    /// The tensor of equal elements, one below the other.
    fn tensor_literal(&mut self, items: &[Placed], at: Origin) -> Checked<Operand> {
        let mut operands = Vec::with_capacity(items.len());
        for item in items {
            operands.push((self.operand(&item.value, item.at)?, item.at));
        }
        let dtype = self.unify("[..]", &operands, at)?;
        let Some((first, first_at)) = operands.first().cloned() else {
            let diagnostic = Diagnostic::new("literal-open", "an empty list has no type", at);
            return Err(self.report(diagnostic.help("write `zeros([0], dtype = f32)`")));
        };
        let element = self.shape(&first);
        let mut rows = Vec::with_capacity(operands.len());
        for (operand, place) in operands {
            let shape = self.shape(&operand);
            if shape != element {
                let diagnostic =
                    Diagnostic::new("shape-mismatch", "the elements of a list have one shape", at)
                        .label(first_at, format!("this has the shape {}", self.show_shape(&element)))
                        .label(place, format!("this has the shape {}", self.show_shape(&shape)));
                return Err(self.report(diagnostic));
            }
            let operand = self.settled(operand, dtype)?;
            let mut row = vec![Dim::constant(1)];
            row.extend(element.iter().cloned());
            let axes = (1..=element.len()).collect();
            let op = Op::Broadcast(Broadcast { shape: row.clone(), axes });
            rows.push(self.apply(op, &[operand], row, place)?);
        }
        if let [_] = rows.as_slice() {
            return Ok(rows.remove(0));
        }
        let mut shape = vec![Dim::constant(rows.len() as i64)];
        shape.extend(element);
        self.apply(Op::Concat(Concat { axis: 0 }), &rows, shape, at)
    }

    /// The operand with the type that was found, where there is one.
    pub(super) fn settled(&mut self, operand: Operand, found: Option<Found>) -> Checked<Operand> {
        match (operand, found) {
            (Operand::Literal(literal), Some(Found { dtype, at })) => {
                Ok(Operand::Node(self.settle(&literal, dtype, at)?))
            }
            (operand, _) => Ok(operand),
        }
    }
}

/// The element type of several operands, and the first that has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// The type.
    pub(super) dtype: DType,
    /// Where it comes from.
    pub(super) at: Origin,
}

/// Integer types that hold two others, the narrowest first.
const INTEGERS: [DType; 6] = [DType::I16, DType::U16, DType::I32, DType::U32, DType::I64, DType::U64];

/// How to make two types one.
pub(super) fn conversion_help(left: DType, right: DType) -> String {
    // The wider float, or the integers that hold both, lose nothing.
    let target = match (left, right) {
        (DType::Bool, other) | (other, DType::Bool) => other,
        (DType::F64, _) | (_, DType::F64) => DType::F64,
        (DType::F32, _) | (_, DType::F32) => DType::F32,
        (left, right) if left.is_half() && right.is_half() => DType::F32,
        (half, _) | (_, half) if half.is_half() => half,
        (left, right) => {
            INTEGERS.into_iter().find(|to| to.holds(left) && to.holds(right)).unwrap_or(DType::I64)
        }
    };
    format!("there is no implicit conversion: convert one of them with `as {}`", target.name())
}
