//! The element types as one list, for items that are the same for each.

/// Calls the macro `$then` with a row for each element type: the variant of [`crate::abi::DType`] and the Rust type.
macro_rules! for_elements {
    ($then:ident) => {
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
        }
    };
}

pub(crate) use for_elements;
