//! Primitives on square matrices.

use super::Equation;
use crate::text::{Tensor, Writer};

pub(super) fn translate(equation: &Equation<'_>, x: &[Tensor], _: &mut Writer) -> Option<Vec<String>> {
    let flag = |name: &str| equation.params[name].as_bool();
    match (equation.prim, x) {
        ("cholesky", [a]) => Some(vec![format!("cholesky({})", a.text)]),
        ("triangular_solve", [a, b]) => Some(vec![format!(
            "triangular_solve({}, {}, lower = {}, transposed = {}, unit_diagonal = {}, left = {})",
            a.text,
            b.text,
            flag("lower")?,
            flag("transpose_a")?,
            flag("unit_diagonal")?,
            flag("left_side")?
        )]),
        _ => None,
    }
}
