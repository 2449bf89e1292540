//! The types of `f16` and `bf16` outside of tensor functions: those of the crate `half`.
//!
//! Without the feature `half` placeholders of the same size stand for them, so that the lists of element types are the
//! same; the macro refuses functions that have such arguments then.

#[cfg(feature = "half")]
pub use ::half::{bf16, f16};

/// Declares a placeholder.
#[cfg(not(feature = "half"))]
macro_rules! placeholders {
    ($($name:ident)*) => { $(
        /// The place of the type of that name while the feature `half` is off.
        #[allow(non_camel_case_types, reason = "the name of the type that it stands for")]
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        #[repr(transparent)]
        pub struct $name(u16);

        // What files need of the type.
        #[allow(dead_code, reason = "each format needs its part, of one type or both")]
        impl $name {
            pub(crate) fn to_f32(self) -> f32 {
                f32::from(self.0)
            }

            pub(crate) fn from_f32(value: f32) -> $name {
                $name(value as u16)
            }

            pub(crate) fn to_bits(self) -> u16 {
                self.0
            }

            pub(crate) fn from_bits(bits: u16) -> $name {
                $name(bits)
            }

            pub(crate) fn to_le_bytes(self) -> [u8; 2] {
                self.0.to_le_bytes()
            }

            pub(crate) fn from_le_bytes(bytes: [u8; 2]) -> $name {
                $name(u16::from_le_bytes(bytes))
            }
        }
    )* };
}
#[cfg(not(feature = "half"))]
placeholders!(f16 bf16);
