//! `for` loops: unrolled, as what they go over is known while the function is compiled.

use super::report::{Checked, Stop, counted};
use super::scope::Checker;
use super::value::{Placed, Value};
use crate::diag::{Diagnostic, Origin};
use crate::dim::Dim;
use crate::syntax::ast::{Body, Expr, ExprKind, Ident, Iterable, Pattern};

/// How many steps the loops of one function may have in all, those of its helpers included.
const MAX_STEPS: usize = 4096;

impl Checker<'_> {
    /// `for pattern in over { .. }`
    pub(super) fn for_loop(
        &mut self,
        pattern: &Pattern,
        over: &Iterable,
        body: &Body,
        at: Origin,
    ) -> Checked<()> {
        let steps = match over {
            Iterable::Range { from, to, inclusive, at } => self.range_steps(from, to, *inclusive, *at)?,
            Iterable::Each(expr) => self.elements(expr)?,
        };
        for step in steps {
            self.loop_steps += 1;
            if self.loop_steps > MAX_STEPS {
                return Err(self.too_long(at));
            }
            let (outer, errors) = (self.frame().bindings.len(), self.reports.len());
            let result = self.step_of(pattern, step, body);
            self.frame().bindings.truncate(outer);
            result?;
            // The other steps would say the same again.
            if self.reports.len() > errors {
                return Err(Stop::Reported);
            }
        }
        Ok(())
    }

    fn step_of(&mut self, pattern: &Pattern, mut step: Placed, body: &Body) -> Checked<()> {
        if self.is_target(pattern) && !self.all_variables(&step.value) && step.value.as_dim().is_none() {
            step.value = self.variable(step.value, step.at)?;
        }
        self.bind(pattern, step)?;
        self.body(body).map(|_| ())
    }

    fn too_long(&mut self, at: Origin) -> Stop {
        let message = format!("loops are unrolled, and this one makes more than {MAX_STEPS} steps");
        let diagnostic = Diagnostic::new("too-long", message, at);
        self.report(diagnostic.help("write the operation over a whole axis"))
    }

    fn range_steps(&mut self, from: &Expr, to: &Expr, inclusive: bool, at: Origin) -> Checked<Vec<Placed>> {
        let (first, end) = (self.loop_bound(from), self.loop_bound(to));
        let (first, end) = (first?, end?);
        let end = if inclusive { end.saturating_add(1) } else { end };
        if end.saturating_sub(first) > MAX_STEPS as i64 {
            return Err(self.too_long(at));
        }
        Ok((first..end).map(|value| Placed { value: Value::Dim(Dim::constant(value)), at }).collect())
    }

    fn loop_bound(&mut self, expr: &Expr) -> Checked<i64> {
        let value = self.eval(expr)?;
        let dim = self.value_dim(&value, "a bound of a loop", expr.span)?;
        match dim.as_const() {
            Some(value) => Ok(value),
            None => {
                let message = format!("a bound of a loop is a constant, `{}` is none", self.show(&dim));
                let diagnostic = Diagnostic::new("loop", message, expr.span);
                Err(self.report(diagnostic.help("loops are unrolled; write the operation over a whole axis")))
            }
        }
    }

    /// What is bound in each step of a loop over `expr`.
    fn elements(&mut self, expr: &Expr) -> Checked<Vec<Placed>> {
        if let ExprKind::Call { name, args, options, .. } = &expr.kind
            && options.is_empty()
            && self.function_named(&name.text).is_none()
        {
            match (name.text.as_str(), args.as_slice()) {
                ("enumerate", [inner]) => {
                    let elements = self.elements(inner)?;
                    return Ok((0..)
                        .zip(elements)
                        .map(|(index, element)| numbered(index, element))
                        .collect());
                }
                ("zip", [_, _, ..]) => return self.zipped(name, args, expr.span),
                ("rev", [inner]) => {
                    let mut elements = self.elements(inner)?;
                    elements.reverse();
                    return Ok(elements);
                }
                _ => {}
            }
        }
        let value = self.placed(expr)?;
        match value.value {
            Value::Array(elements) => {
                Ok(elements.iter().map(|element| Placed { value: element.clone(), at: expr.span }).collect())
            }
            Value::List(items) => Ok(items),
            Value::Error => Err(Stop::Reported),
            other => {
                let found = self.show_value(&other);
                let message = format!("a loop goes over a range or an array, this is {found}");
                let diagnostic = Diagnostic::new("loop", message, expr.span);
                Err(self.report(
                    diagnostic.help("operators act on all elements of a tensor at once; `0..n` counts"),
                ))
            }
        }
    }

    fn zipped(&mut self, name: &Ident, args: &[Expr], at: Origin) -> Checked<Vec<Placed>> {
        let sides: Vec<Checked<Vec<Placed>>> = args.iter().map(|arg| self.elements(arg)).collect();
        let sides: Vec<Vec<Placed>> = sides.into_iter().collect::<Checked<_>>()?;
        let len = sides.first().map_or(0, Vec::len);
        if let Some(other) = sides.iter().find(|side| side.len() != len) {
            let (a, b) = (counted(len, "element", "elements"), other.len());
            let message = format!("the arrays of `{}` have {a} and {b}", name.text);
            return self.fail("loop", at, message);
        }
        let row = |index: usize| sides.iter().filter_map(|side| side.get(index).cloned()).collect();
        Ok((0..len).map(|index| Placed { value: Value::Tuple(row(index)), at }).collect())
    }
}

/// `(index, element)`
fn numbered(index: i64, element: Placed) -> Placed {
    let at = element.at;
    let index = Placed { value: Value::Dim(Dim::constant(index)), at };
    Placed { value: Value::Tuple(vec![index, element]), at }
}
