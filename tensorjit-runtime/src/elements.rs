//! The element types as lists, for items that are the same for each.
//!
//! A list calls the macro `$then` with a row for each type: the variant of [`crate::abi::DType`] and the Rust type.

/// Those that Rust has itself, and `$more` rows after them.
macro_rules! for_primitive_elements {
    ($then:ident $($more:tt)*) => {
        $then! {
            Bool: bool,
            I8: i8,
            I16: i16,
            I32: i32,
            I64: i64,
            U8: u8,
            U16: u16,
            U32: u32,
            U64: u64,
            F32: f32,
            F64: f64,
            $($more)*
        }
    };
}

/// All element types.
macro_rules! for_elements {
    ($then:ident) => {
        $crate::elements::for_primitive_elements! {
            $then
            F16: crate::half::f16,
            BF16: crate::half::bf16,
        }
    };
}

pub(crate) use {for_elements, for_primitive_elements};
