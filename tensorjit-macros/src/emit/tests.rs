use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use tensorjit_core::dim::facts::{Condition, Facts, SymbolInfo};
use tensorjit_core::dim::{Dim, Sym};
use tensorjit_runtime::abi::{DType, Level, Relation, Role};

use super::*;
use crate::facts::CodeFacts;

fn tensor(dtype: DType, shape: &[Dim]) -> Tensor {
    Tensor { dtype, shape: shape.to_vec() }
}

fn layout(tensor: &Tensor) -> Layout {
    Layout::Tensor(Type::new(tensor.dtype, tensor.shape.clone()))
}

fn param(name: &str, role: Role, tensor: Tensor) -> Param {
    Param { name: name.to_owned(), tensor, role, index_bound: None }
}

/// `pub fn step<B: 1..=64, N>(x: f32[B, 2*N], pick: i64[B], m: &mut f32, s: bool) -> (f32[N], f64)
/// where N >= 2`
fn step() -> Signature {
    let (b, n) = (Dim::sym(Sym(0)), Dim::sym(Sym(1)));
    let two_n = &Dim::constant(2) * &n;
    let symbol = |name: &str, low, high| SymbolInfo { name: name.to_owned(), low, high };
    let mut pick = param("pick", Role::Input, tensor(DType::I64, std::slice::from_ref(&b)));
    pick.index_bound = Some(n.clone());
    let params = vec![
        param("x", Role::Input, tensor(DType::F32, &[b, two_n])),
        pick,
        param("m", Role::State, tensor(DType::F32, &[])),
        param("s", Role::Input, tensor(DType::Bool, &[])),
    ];
    let arguments = params.iter().map(|param| Argument {
        name: Ident::new(&param.name, Span::call_site()),
        layout: layout(&param.tensor),
        role: param.role,
    });
    let results: Vec<Output> = [tensor(DType::F32, std::slice::from_ref(&n)), tensor(DType::F64, &[])]
        .into_iter()
        .enumerate()
        .map(|(index, tensor)| Output { name: format!("result.{index}"), tensor })
        .collect();
    Signature {
        attributes: vec![quote!(#[doc = " One step."]), quote!(#[cfg(unix)])],
        visibility: quote!(pub(crate)),
        name: Ident::new("step", Span::call_site()),
        facts: Facts { symbols: vec![symbol("B", 1, 64), symbol("N", 0, i64::MAX)], conditions: Vec::new() },
        conditions: vec![Condition { left: n.clone(), relation: Relation::Ge, right: Dim::constant(2) }],
        arguments: arguments.collect(),
        values: results.iter().map(|output| layout(&output.tensor)).collect(),
        params,
        results,
        tuple: true,
    }
}

fn code() -> Code {
    Code {
        library: Some("tensorjit_0".to_owned()),
        entries: vec![EntryPoint { level: Level::X86V4, symbol: "tensorjit_0_v4".to_owned() }],
        facts: CodeFacts::default(),
    }
}

/// The text without spaces, so that tests can be written as Rust is.
fn dense(tokens: &TokenStream) -> String {
    tokens.to_string().split_whitespace().collect()
}

#[track_caller]
fn has(text: &str, part: &str) {
    let part: String = part.split_whitespace().collect();
    assert!(text.contains(&part), "no `{part}` in\n{text}");
}

#[test]
fn the_items_are_rust() {
    let tokens = items(&quote!(tensorjit), &step(), &code());
    let file: syn::File = syn::parse2(tokens).unwrap();
    let [syn::Item::Fn(function), syn::Item::Mod(module)] = file.items.as_slice() else {
        panic!("a function and a module");
    };
    assert_eq!((&function.sig.ident, &module.ident), (&step().name, &step().name));
    let names: Vec<String> = module
        .content
        .iter()
        .flat_map(|(_, items)| items)
        .filter_map(|item| match item {
            syn::Item::Fn(function) => Some(function.sig.ident.to_string()),
            syn::Item::Struct(item) => Some(item.ident.to_string()),
            syn::Item::Const(item) => Some(item.ident.to_string()),
            _ => None,
        })
        .collect();
    for name in ["into", "into_with", "Dims", "with_dims", "workspace_bytes", "KERNELS"] {
        assert!(names.iter().any(|found| found == name), "{name} is not among {names:?}");
    }
}

#[test]
fn shells_have_the_users_types() {
    let text = dense(&items(&quote!(tensorjit), &step(), &code()));
    has(
        &text,
        "pub(crate) fn step<'a>(
            x: impl tensorjit::Arg<'a, ::core::primitive::f32, tensorjit::ndarray::Ix2>,
            pick: impl tensorjit::Arg<'a, ::core::primitive::i64, tensorjit::ndarray::Ix1>,
            m: &mut ::core::primitive::f32,
            s: ::core::primitive::bool
        ) -> tensorjit::Result<(
            tensorjit::ndarray::Array<::core::primitive::f32, tensorjit::ndarray::Ix1>,
            ::core::primitive::f64,
        )>",
    );
    has(&text, "result_0: impl tensorjit::ArgMut<'a, ::core::primitive::f32, tensorjit::ndarray::Ix1>");
    has(&text, "result_1: &mut ::core::primitive::f64");
    has(&text, "#[cfg(unix)] #[doc=");
}

#[test]
fn the_descriptor_says_everything() {
    let text = dense(&items(&quote!(t), &step(), &code()));
    has(&text, r#"abi::Symbol { name: "B", low: 1i64, high: 64i64 }"#);
    has(&text, r#".below(abi::DimExpr::new("#);
    has(&text, "relation: abi::Relation::Ge");
    has(&text, "abi::Solve { symbol: 1u32, param: 0u32, axis: 1u32, scale: 2i64");
    has(&text, "abi::LevelEntry { level: abi::Level::X86V4, entry: tensorjit_0_v4 }");
    has(&text, r#"#[link(name = "tensorjit_0", kind = "static")] unsafe extern "C" { fn tensorjit_0_v4("#);
    let without = dense(&items(&quote!(t), &step(), &Code::default()));
    assert!(!without.contains("link("), "no library is linked where no code is made");
}

#[test]
fn documentation_says_shapes_bounds_and_conditions() {
    let text = docs::of_function(&step());
    for part in [
        "* `x`: `f32[B, 2*N]`",
        "* `pick`: `i64[B]`, each value in `0..N`",
        "* `m`: `&mut f32`",
        "`(f32[N], f64)`",
        "* `B` in `1..=64`, from `x`",
        "* `N` in `0..`, from `x`",
        "* `N >= 2`",
        "an index out of range",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

#[test]
fn symbols_that_no_argument_determines_have_no_plain_form() {
    let mut signature = step();
    signature.params.remove(0);
    signature.arguments.remove(0);
    assert_eq!(signature.forms(), Forms { plain: false, into: true });
    let text = dense(&items(&quote!(t), &signature, &code()));
    assert!(!text.contains("fnstep<") && text.contains("fninto<") && text.contains("fnwith_dims<"));
    signature.results.remove(0);
    signature.values.remove(0);
    assert_eq!(signature.forms(), Forms { plain: false, into: false });
    let text = dense(&items(&quote!(t), &signature, &code()));
    assert!(!text.contains("fninto<") && text.contains("fnwith_dims<"));
}

#[test]
fn one_result_is_no_tuple() {
    let mut signature = step();
    signature.results.truncate(1);
    signature.values.truncate(1);
    has(
        &dense(&items(&quote!(t), &signature, &code())),
        "Result<(t::ndarray::Array<::core::primitive::f32, t::ndarray::Ix1>,)>",
    );
    signature.tuple = false;
    has(
        &dense(&items(&quote!(t), &signature, &code())),
        "Result<t::ndarray::Array<::core::primitive::f32, t::ndarray::Ix1>>",
    );
    signature.results.clear();
    signature.values.clear();
    has(&dense(&items(&quote!(t), &signature, &code())), "Result<()>");
}

/// Names that Rust reserves, in any edition, become raw ones.
#[test]
fn reserved_words_become_raw_names() {
    for word in [
        "abstract", "async", "become", "do", "dyn", "final", "gen", "macro", "override", "priv", "try",
        "typeof", "unsized", "virtual", "yield",
    ] {
        assert_eq!(public(word).to_string(), format!("r#{word}"));
    }
    for word in ["union", "auto", "raw", "macro_rules", "default", "x"] {
        assert_eq!(public(word).to_string(), word);
    }
}
