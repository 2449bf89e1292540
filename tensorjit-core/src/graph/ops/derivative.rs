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
    /// The name in the language.
    pub const fn name(self) -> &'static str {
        match self {
            Derivative::Grad => "grad",
            Derivative::Vjp => "vjp",
            Derivative::Jvp => "jvp",
            Derivative::Hvp => "hvp",
        }
    }

    /// The type of the result.
    pub fn infer(&self, facts: &Facts, inputs: &[&Type]) -> Result<Type, Bug> {
        let (y, x, seed) = match inputs {
            [y, x] if *self == Derivative::Grad => (y, x, None),
            [y, x, seed] if *self != Derivative::Grad => (y, x, Some(seed)),
            _ => return Err(self.refuse(inputs)),
        };
        let scalar = matches!(self, Derivative::Grad | Derivative::Hvp);
        if !y.dtype.is_float() || !x.dtype.is_float() || (scalar && y.rank() != 0) {
            return Err(self.refuse(inputs));
        }
        let like = if *self == Derivative::Vjp { y } else { x };
        if let Some(seed) = seed {
            let same = seed.dtype == like.dtype
                && seed.rank() == like.rank()
                && seed.shape.iter().zip(&like.shape).all(|(a, b)| facts.same(a, b));
            if !same {
                return Err(self.refuse(inputs));
            }
        }
        let result = if *self == Derivative::Jvp { y } else { x };
        Ok((*result).clone())
    }

    fn refuse(self, inputs: &[&Type]) -> Bug {
        Bug::new("graph", format!("{} of operands {inputs:?}", self.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tensorjit_runtime::abi::DType;

    #[test]
    fn types_follow_the_direction() {
        let (scalar, tensor) = (Type::scalar(DType::F64), Type::new(DType::F64, [2.into(), 3.into()]));
        let cases: [(Derivative, &[&Type], Option<&Type>); 11] = [
            (Derivative::Grad, &[&scalar, &tensor], Some(&tensor)),
            (Derivative::Grad, &[&tensor, &tensor], None),
            (Derivative::Grad, &[&scalar, &tensor, &tensor], None),
            (Derivative::Vjp, &[&scalar, &tensor, &scalar], Some(&tensor)),
            (Derivative::Vjp, &[&tensor, &scalar, &tensor], Some(&scalar)),
            (Derivative::Vjp, &[&tensor, &scalar, &scalar], None),
            (Derivative::Jvp, &[&scalar, &tensor, &tensor], Some(&scalar)),
            (Derivative::Jvp, &[&scalar, &tensor, &scalar], None),
            (Derivative::Hvp, &[&scalar, &tensor, &tensor], Some(&tensor)),
            (Derivative::Hvp, &[&tensor, &tensor, &tensor], None),
            (Derivative::Hvp, &[&scalar, &tensor], None),
        ];
        for (kind, inputs, expected) in cases {
            assert_eq!(kind.infer(&Facts::default(), inputs).ok().as_ref(), expected, "{kind:?} {inputs:?}");
        }
        let ints = Type::new(DType::I32, [2.into()]);
        assert!(Derivative::Grad.infer(&Facts::default(), &[&scalar, &ints]).is_err());
    }
}
