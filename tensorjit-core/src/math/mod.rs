//! Elementary functions as vector code: the signatures that the table of functions lowers to, ahead of their code.

use tensorjit_runtime::abi::DType;

use crate::lanes::{Lanes, Val};

macro_rules! signatures {
    ($($name:ident($($operand:ident),*);)*) => {$(
        #[doc = concat!("Builds `", stringify!($name), "`.")]
        pub fn $name(_lanes: &mut dyn Lanes, _dtype: DType, $($operand: Val),*) -> Val {
            unreachable!("{} has no vector code yet: {:?}", stringify!($name), [$($operand),*])
        }
    )*};
}

signatures! {
    exp(x); exp2(x); expm1(x); log(x); log2(x); log1p(x); sin(x); cos(x); tan(x); asin(x); acos(x); atan(x);
    sinh(x); cosh(x); tanh(x); erf(x); sigmoid(x); pow(x, y); atan2(y, x); hypot(x, y); rem(x, y);
}
