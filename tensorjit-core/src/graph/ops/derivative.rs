//! Derivatives as the front end writes them, before the autodiff stage.

use crate::diag::Bug;
use crate::dim::facts::Facts;
use crate::graph::Type;

/// Operands are `y`, `x` and, but for `Grad`, the seed.  With several `x` the front end writes one node each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Derivative {
    /// Gradient of the scalar `y` by `x`; the type of `x`.
    Grad,
    /// Cotangent of `x` for the cotangent of `y`; the type of `x`.
    Vjp,
    /// Tangent of `y` for the tangent of `x`; the type of `y`.
    Jvp,
    /// Product of the second derivative of the scalar `y` with a vector; the type of `x`.
    Hvp,
}

impl Derivative {
    /// The type of the result.
    pub fn infer(&self, _facts: &Facts, _inputs: &[&Type]) -> Result<Type, Bug> {
        Err(Bug::new("graph", "derivative is not built yet"))
    }
}
