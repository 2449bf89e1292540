//! Literals: their values, their suffixes, and what is wrong with those that have none.

use proc_macro2::Literal;
use tensorjit_runtime::abi::DType;

use super::ast::ExprKind;

/// What is wrong with a literal, and the way out.
pub(super) struct BadLiteral {
    pub(super) message: String,
    pub(super) help: Option<String>,
}

/// Numbers with more characters are refused before anything reads their digits.
const MAX_CHARACTERS: usize = 400;

/// The literal as an expression.
pub(super) fn read(literal: &Literal) -> Result<ExprKind, BadLiteral> {
    if literal.to_string().len() > MAX_CHARACTERS {
        return bad("this literal is too long", "numbers have no more digits than their types can hold");
    }
    match syn::Lit::new(literal.clone()) {
        syn::Lit::Int(int) if matches!(int.suffix(), "f16" | "bf16" | "f32" | "f64") => {
            float(int.base10_digits(), int.suffix())
        }
        syn::Lit::Int(int) => integer(int.base10_digits(), int.suffix()),
        syn::Lit::Float(value) => float(value.base10_digits(), value.suffix()),
        syn::Lit::Str(value) if value.suffix().is_empty() => Ok(ExprKind::Str(value.value())),
        syn::Lit::Bool(value) => Ok(ExprKind::Bool(value.value)),
        syn::Lit::Char(_) => bad("characters are not values of the language", "a string is written `\"..\"`"),
        _ => bad(
            "this kind of literal is not a value of the language",
            "values are numbers, `true` and `false`",
        ),
    }
}

fn integer(digits: &str, suffix: &str) -> Result<ExprKind, BadLiteral> {
    let dtype = known_suffix(suffix)?;
    // The magnitude of the least value is legal too: it is written with a minus.
    let (least, greatest) = dtype.unwrap_or(DType::U64).bounds();
    match digits.parse::<i128>() {
        Ok(value) if value <= greatest.max(-least) => Ok(ExprKind::Int(value, named(dtype))),
        _ => {
            let what = match dtype {
                Some(dtype) => format!("this integer does not fit `{}`", dtype.name()),
                None => "this integer fits no type".to_owned(),
            };
            bad(what, "a float is written with a point, as `1e20` or `1.0`")
        }
    }
}

fn float(digits: &str, suffix: &str) -> Result<ExprKind, BadLiteral> {
    let dtype = known_suffix(suffix)?;
    if let Some(dtype) = dtype.filter(|dtype| !dtype.is_float()) {
        return bad(
            format!("a number with a point has no type `{}`", dtype.name()),
            "suffixes of floats are `f32`, `f64`, `f16` and `bf16`",
        );
    }
    let finite = match dtype {
        Some(DType::F32) => digits.parse::<f32>().is_ok_and(f32::is_finite),
        // Those of 16 bits are rounded where they are given a type.
        _ => digits.parse::<f64>().is_ok_and(f64::is_finite),
    };
    if !finite {
        let ty = dtype.unwrap_or(DType::F64).name();
        return bad(
            format!("this number is beyond the greatest finite `{ty}`"),
            "infinity is written `1.0 / 0.0`",
        );
    }
    Ok(ExprKind::Float(digits.to_owned(), named(dtype)))
}

fn named(dtype: Option<DType>) -> Option<String> {
    dtype.map(|dtype| dtype.name().to_owned())
}

fn known_suffix(suffix: &str) -> Result<Option<DType>, BadLiteral> {
    let known = DType::ALL.into_iter().find(|dtype| *dtype != DType::Bool && dtype.name() == suffix);
    match suffix {
        "" => Ok(None),
        _ if known.is_some() => Ok(known),
        _ => bad(
            format!("`{suffix}` is not a type of numbers here"),
            "suffixes are the types of numbers, such as `f32` and `i64`; without one a literal takes the type of what it meets",
        ),
    }
}

fn bad<T>(message: impl Into<String>, help: &str) -> Result<T, BadLiteral> {
    Err(BadLiteral { message: message.into(), help: Some(help.to_owned()) })
}
