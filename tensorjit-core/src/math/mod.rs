//! Elementary functions as lane-wise arithmetic, written once against [`Lanes`] for scalars and vectors, for
//! `f32` and `f64`, and for levels with and without FMA.
//!
//! They import nothing, branch by no lane, and keep IEEE's special values: NaN, infinities, signed zeros and
//! subnormals.  Rare work, such as the reduction of a huge angle, stands behind [`Lanes::if_any`].  Each file
//! holds a family; `num` has the short names that they share, `exact` the arithmetic without rounding errors,
//! and `coefficients` the polynomials, derived by `docs/coefficients.py`.

mod adjacent;
mod bessel;
mod coefficients;
mod erf;
mod erf_inv;
mod exact;
#[cfg(test)]
pub(crate) mod exec;
mod exp;
mod gamma;
mod hyperbolic;
mod inverse_trig;
mod log;
mod num;
mod payne_hanek;
mod pieces;
mod pow;
pub mod reference;
mod rem;
mod roots;
#[cfg(test)]
pub(crate) mod tests;
mod trig;

pub use adjacent::{copysign, nextafter};
pub use bessel::{bessel_i0e, bessel_i1e};
pub use erf::{erf, erfc};
pub use erf_inv::erf_inv;
pub use exp::{exp, exp2, expm1};
pub use gamma::{digamma, lgamma};
pub use hyperbolic::{cosh, sech, sigmoid, sinh, tanh};
pub use inverse_trig::{acos, asin, atan, atan2};
pub use log::{log, log1p, log2, log10};
pub use pow::pow;
pub use rem::rem;
pub use roots::{cbrt, hypot, rsqrt};
pub use trig::{cos, sin, tan};
