//! One mistake each: its place, its code, its message and the way out.

use super::super::*;

/// Each diagnostic as `line:column code: message | help`.
fn said(text: &str) -> Vec<String> {
    let parsed = parse_text(text);
    let line = |d: &Diagnostic| {
        let start = parsed.sources.spans(d.at).0.start();
        let help = d.help.as_ref().map_or_else(String::new, |help| format!(" | {help}"));
        format!("{}:{} {}: {}{help}", start.line, start.column + 1, d.code, d.message)
    };
    parsed.diagnostics.iter().map(line).collect()
}

#[test]
fn mistakes() {
    for (text, expected) in MISTAKES {
        assert_eq!(said(text), *expected, "{text}");
    }
}

/// Every code of a diagnostic that the parser makes has its case.
#[test]
fn every_code_of_the_parser_has_a_case() {
    let mut found: Vec<&str> =
        MISTAKES.iter().flat_map(|(text, _)| parse_text(text).diagnostics).map(|d| d.code).collect();
    // Its cases are among the hostile texts.
    found.push("too-deep");
    found.sort_unstable();
    found.dedup();
    let known = |code: &&str| crate::diag::CODES.iter().any(|row| row.name == *code);
    assert!(found.iter().all(known), "{found:?}");
    let expected = [
        "chained-comparison",
        "derivative-rule",
        "expected",
        "function-form",
        "import",
        "literal",
        "loop",
        "not-supported-yet",
        "option-form",
        "rust-construct",
        "statement-form",
        "struct-form",
        "tokens",
        "too-deep",
        "unused-value",
    ];
    assert_eq!(found, expected);
}

/// As people read it: places, labels on their lines, tabs kept, help.
#[test]
fn rendered() {
    let text = "fn f() {\n\tlet größe = a < b\n\t\t< c;\n}\n";
    let parsed = parse_text(text);
    let shown: String = parsed.diagnostics.iter().map(|d| d.render(&parsed.sources, "a.tj", text)).collect();
    assert_eq!(
        shown,
        "error[chained-comparison]: comparisons cannot be chained
 --> a.tj:3:3
  |
3 | \t\t< c;
  | \t\t^
2 | \tlet größe = a < b
  | \t              - the first comparison
  = help: write `(a < b) & (b < c)`, or put one comparison in parentheses
"
    );
}

#[rustfmt::skip]
const MISTAKES: &[(&str, &[&str])] = &[
    // Items.
    ("struct Layer(f32[2]); fn f() { 1 }", &[
        "1:13 struct-form: struct `Layer` has no fields with names | write `struct Layer { w: f32[3], b: f32 }`",
    ]),
    ("use a::b; fn f() { x y }", &[
        "1:8 import: there is nothing to import from here | blocks of `tensor_fn!` import from each other, texts do not",
        "1:20 expected: expected `;` after this expression | add `;` here",
    ]),
    ("use a::{b::*, self, c as if, d e, f::}; pub(crate) use; #[x] pub use ::; use a::(b); fn f() {}", &[
        "1:12 import: all items of a module cannot be imported at once | name what the block uses, as `use path::{f, Layer};`",
        "1:15 import: `self` is no item of a block | name functions, structs and constants",
        "1:26 import: `if` is no item of a block | name functions, structs and constants",
        "1:32 import: this does not belong to a path | write `use path::name as other;`",
        "1:37 import: the path ends here | write `use path::{f, Layer};`",
        "1:52 import: expected the path of what is imported | write `use path::name;`",
        "1:57 import: an import has no attributes | leave them out",
        "1:71 import: the path ends here | write `use path::{f, Layer};`",
        "1:81 import: expected a name in the path | write `use path::{f, Layer};`",
    ]),
    ("pub mod m {} fn f() {}", &[
        "1:5 rust-construct: `mod` is not part of the language | a block holds `fn`, `struct` and `const` items",
    ]),
    ("impl A {}", &[
        "1:1 rust-construct: `impl` is not part of the language | a block holds `fn`, `struct` and `const` items",
    ]),
    ("let x = 1;", &[
        "1:1 expected: expected `fn`, `struct` or `const`, found `let`",
    ]),
    ("#![deny(x)] fn f() {}", &[
        "1:2 rust-construct: attributes of the enclosing item do not stand here | write `#[..]` before an item",
    ]),
    ("#[vjp] fn f() {}", &[
        "1:6 expected: expected the function that is the rule, in parentheses, found `]` | write `#[vjp(rule)]` or `#[jvp(rule)]`",
    ]),
    ("#[jvp(rule)] const A: f32 = 1;", &[
        "1:3 derivative-rule: a constant has no derivative | the rule of a derivative stands before a function",
    ]),
    ("#[jvp(f)] #[vjp(g)] fn f() {}", &[
        "1:13 derivative-rule: a function has one rule | `#[jvp(..)]` alone is enough: reverse derivatives follow from it",
    ]),
    ("const fn f() {}", &[
        "1:1 rust-construct: tensor functions have no qualifiers | write `fn` alone",
    ]),
    ("const A = 1;", &[
        "1:9 expected: expected `:` and the type of the constant, found `=` | write `const NAME: f32 = ..;`",
    ]),
    ("const A: f32;", &[
        "1:13 expected: expected `=`, found `;`",
    ]),
    ("fn f();", &[
        "1:7 function-form: function `f` has no body | write its value in braces, `{ .. }`",
    ]),
    ("fn f {}", &[
        "1:6 expected: expected `(`, found `{`",
    ]),
    ("fn f() f32 { 1 }", &[
        "1:8 expected: expected `{`, found `f32`",
    ]),
    ("fn self() {}", &[
        "1:4 expected: `self` is a keyword and cannot be the name of a function",
    ]),
    ("fn f() -> { 1 }", &[
        "1:11 expected: expected a type, found `{`",
    ]),
    ("fn (x: f32) {}", &[
        "1:4 expected: expected the name of a function, found `(`",
    ]),
    // Generics.
    ("fn f<'a>() {}", &[
        "1:6 rust-construct: there are no lifetimes or labels | leave it out",
    ]),
    ("fn f<const N: usize>() {}", &[
        "1:6 rust-construct: dimensions are not written as constants | write the name alone, as `<N>`, with bounds as `<N: 1..=64>`",
    ]),
    ("fn f<T: Float>() {}", &[
        "1:9 function-form: `Float` is not a bound | write `T: float`",
    ]),
    ("fn f<T: Clone>() {}", &[
        "1:9 function-form: `Clone` is not a bound | element types are bounded by `float`, `int` or `number`, dimensions by ranges as `1..=64`",
    ]),
    ("fn f<N: 4>() {}", &[
        "1:9 function-form: the bounds of a dimension are a range | write `N: 1..=64`, `N: 8..` or `N: ..=64`",
    ]),
    ("fn f<N: 1..=>() {}", &[
        "1:13 expected: expected the greatest value, found `>`",
    ]),
    ("fn f<N M>() {}", &[
        "1:8 expected: expected `,` or `>`, found `M`",
    ]),
    ("fn f<N() {}", &[
        "1:7 expected: expected `,` or `>`, found `(`",
    ]),
    ("fn f<f32[N]>() {}", &[
        "1:9 expected: expected `,` or `>`, found `[`",
    ]),
    // Parameters and types.
    ("fn f(x) {}", &[
        "1:7 expected: expected `:` and the type of the parameter, found `)` | write `x: f32[N]`, or `x: f32` for a scalar",
    ]),
    ("fn f(mut x: f32) {}", &[
        "1:6 function-form: parameters are not declared `mut` | state that is assigned is written `name: &mut f32[N]`",
    ]),
    ("fn f(&self) {}", &[
        "1:6 function-form: a tensor function has no receiver | name every parameter, as `x: f32[N]`",
    ]),
    ("fn f(self) {}", &[
        "1:6 function-form: a tensor function has no receiver | name every parameter, as `x: f32[N]`",
    ]),
    ("fn f(x: &f32[N]) { x }", &[
        "1:9 function-form: parameters are not written as references | write the type alone, as `x: f32[N]`; callers pass `&x`",
    ]),
    ("fn f(x: f32[]) {}", &[
        "1:9 expected: a shape in brackets has at least one axis | a scalar is written `f32`",
    ]),
    ("fn f(x: Layer<I, O) {}", &[
        "1:19 expected: expected `,` or `>`, found `)`",
    ]),
    ("fn f(x: std::f32) {}", &[
        "1:12 rust-construct: names have no paths | types are `f32`, `f64`, `i32`, `i64`, `bool` and the structs of the block",
    ]),
    ("fn f(x: [f32, 3]) {}", &[
        "1:13 expected: expected `;` and the number of elements, found `,` | a tensor is written with its element type first, as `f32[B, 3]`",
    ]),
    ("fn f(x: (f32, &f32)) {}", &[
        "1:15 rust-construct: types have no references | write the type alone; only a parameter may be state, as `m: &mut f32[N]`",
    ]),
    ("fn f(x: f32[N,, M]) {}", &[
        "1:15 expected: expected an expression, found `,`",
    ]),
    ("fn f(x: f32 y: f32) {}", &[
        "1:13 expected: expected `,` or `)`, found `y`",
    ]),
    ("fn f((a, b): (f32, f32)) {}", &[
        "1:6 expected: expected the name of a parameter, found `(`",
    ]),
    ("fn f(x: -1) {}", &[
        "1:9 expected: expected a type, found `-`",
    ]),
    ("fn f(x: dyn A) {}", &[
        "1:9 rust-construct: `dyn` is not part of the language | types are tensors, scalars, structs and tuples of them",
    ]),
    // Conditions.
    ("fn f<N>() where N = 2 {}", &[
        "1:19 expected: expected `==`, `!=`, `<`, `<=`, `>` or `>=`, found `=` | equality is written `==`",
    ]),
    ("fn f<N>() where N {}", &[
        "1:19 expected: expected `==`, `!=`, `<`, `<=`, `>` or `>=`, found `{` | a condition is a relation of dimensions, as `N == 2 * M` or `T % 4 == 0`",
    ]),
    ("fn f<N>() where N: 2 {}", &[
        "1:18 function-form: `where` states relations of dimensions | bounds stand in the angle brackets, as `<N: 1..>`",
    ]),
    ("fn f<N>() where 1 < N < 4 {}", &[
        "1:23 chained-comparison: comparisons cannot be chained | write two conditions separated by `,`",
    ]),
    ("fn f<N>() where N == 2 N == 3 {}", &[
        "1:24 expected: expected `,` or the body of the function, found `N`",
    ]),
    // Statements.
    ("fn f() { let mut = 1; x }", &[
        "1:18 expected: expected a name or a tuple of names, found `=`",
    ]),
    ("fn f() { let x; }", &[
        "1:15 statement-form: `let` needs a value | write `let name = value;`",
    ]),
    ("fn f() { let x: f32; }", &[
        "1:20 statement-form: `let` needs a value | write `let name = value;`",
    ]),
    ("fn f() { let Some(x) = y; }", &[
        "1:18 rust-construct: `let` binds a name or a tuple of names | take values apart by `.0`, `.1` or by an index",
    ]),
    ("fn f() { let &x = y; }", &[
        "1:14 rust-construct: there are no references in expressions | write the name itself; values are never moved",
    ]),
    ("fn f() { let x = 1 let y = 2; y }", &[
        "1:18 expected: expected `;` after this `let` | add `;` here",
    ]),
    ("fn f() { let x = 1 }", &[
        "1:18 expected: expected `;` after this `let` | add `;` here",
    ]),
    ("fn f() { let x 1; }", &[
        "1:16 expected: expected `=`, found `1` | a `let` is written `let name = value;`",
    ]),
    ("fn f() { let x == 1; }", &[
        "1:16 expected: expected `=`, found `==` | a `let` is written `let name = value;`",
    ]),
    ("fn f() { return x; }", &[
        "1:10 rust-construct: `return` is not part of the language | the value of a function is its last expression, without `return` and without `;`",
    ]),
    ("fn f() { if x > 0 { x } }", &[
        "1:25 expected: expected `else`, found `}` | an `if` has a value on both sides: `if c { a } else { b }`",
    ]),    ("fn f() { for i in 0..3 { x } }", &[
        "1:26 unused-value: a step of a loop has no value | assign it to a name from outside, `h = ..;`, which is bound there by `let mut h = ..;`",
    ]),
    ("fn f() { for i in 0.. { } for i in ..3 { } for x of y { } 1 }", &[
        "1:19 loop: a loop over a range has an end | write `0..n`, with a constant for `n`",
        "1:36 loop: a loop over a range has a start | write `0..n`",
        "1:50 expected: expected `in`, found `of` | write `for i in 0..6 { .. }` or `for layer in layers { .. }`",
    ]),
    ("fn f() { while true {} }", &[
        "1:10 not-supported-yet: `while` is not supported yet | write `while_loop(init, |carry| condition, |carry| carry, max = 100)`",
    ]),
    ("fn f() { loop {} }", &[
        "1:10 rust-construct: `loop` is not part of the language | there is no iteration without end",
    ]),
    ("fn f() { match x { _ => 1 } }", &[
        "1:10 rust-construct: `match` is not part of the language | `select(condition, a, b)` chooses elements",
    ]),
    ("fn f() { checkpoint { x } }", &[
        "1:10 not-supported-yet: `checkpoint` is not supported yet | write the block without it; intermediate values are kept",
    ]),
    ("fn f() { x; y }", &[
        "1:10 unused-value: the value of this statement is not used | bind it with `let`, or remove it; tensor functions have no side effects",
    ]),
    ("fn f() { x; }", &[
        "1:10 unused-value: the value of this statement is not used | leave out the `;` to make it the value of the block",
    ]),
    ("fn f() { (a, b) = c; }", &[
        "1:10 statement-form: several names cannot be assigned at once | write one assignment each",
    ]),
    ("fn f() { f(x) = 1; }", &[
        "1:10 statement-form: only a `&mut` parameter or a name bound by `let mut` can be assigned | bind a new name with `let`",
    ]),
    ("fn f() { x.w.f(1) = 1; }", &[
        "1:10 statement-form: only a `&mut` parameter or a name bound by `let mut` can be assigned | bind a new name with `let`",
    ]),
    ("fn f() { fn g() {} }", &[
        "1:10 statement-form: items do not stand inside functions | write it beside the function, in the same block",
    ]),
    ("fn f() { x = 1 }", &[
        "1:14 expected: expected `;` after this assignment | add `;` here",
    ]),
    ("fn f() { x y }", &[
        "1:10 expected: expected `;` after this expression | add `;` here",
    ]),
    ("fn f() { let else = 1; }", &[
        "1:14 expected: `else` is a keyword and cannot be a name or a tuple of names",
    ]),
    ("fn f() { let a = 1; } }", &[
        "1:23 tokens: this is not a token of Rust, or a bracket has no partner | close every bracket, quote and comment, and use Rust's names, numbers and operators",
    ]),
    // Expressions.
    ("fn f() { a < b < c }", &[
        "1:16 chained-comparison: comparisons cannot be chained | write `(a < b) & (b < c)`, or put one comparison in parentheses",
    ]),
    ("fn f() { a == b == c }", &[
        "1:17 chained-comparison: comparisons cannot be chained | write `(a < b) & (b < c)`, or put one comparison in parentheses",
    ]),
    ("fn f() { a && b }", &[
        "1:12 rust-construct: `&&` is not part of the language | `&` is elementwise and binds tighter than comparisons: write `(a < b) & (c < d)`",
    ]),
    ("fn f() { a || b }", &[
        "1:12 rust-construct: `||` is not part of the language | `|` is elementwise and binds tighter than comparisons: write `(a < b) | (c < d)`",
    ]),
    ("fn f() { &x }", &[
        "1:10 rust-construct: there are no references in expressions | write the name itself; values are never moved",
    ]),
    ("fn f() { *x }", &[
        "1:10 rust-construct: there are no pointers to follow | write the name itself",
    ]),
    ("fn f() { +x }", &[
        "1:10 rust-construct: there is no unary `+` | write the operand alone",
    ]),
    ("fn f() { x? }", &[
        "1:11 rust-construct: `?` has no meaning here | nothing in a tensor function can fail",
    ]),
    ("fn f() { a::b }", &[
        "1:11 rust-construct: names have no paths | `use path::name;` before the functions brings a name in",
    ]),
    ("fn f() { a::<f32>(x) }", &[
        "1:11 rust-construct: names have no paths | `use path::name;` before the functions brings a name in",
    ]),
    ("fn f() { x.sum::<f32>() }", &[
        "1:15 rust-construct: names have no paths | `use path::name;` before the functions brings a name in",
    ]),
    ("fn f() { vec![1] }", &[
        "1:13 rust-construct: macros cannot be called in tensor functions | write the expression, or a helper `fn`",
    ]),
    ("fn f() { Layer { w = x } }", &[
        "1:20 struct-form: a field of a value is not written with `=` | write `w: value`",
    ]),
    ("fn f() { Layer { ..a, w: x } }", &[
        "1:21 expected: expected `}` after the base, found `,`",
    ]),
    ("fn f() { x.await }", &[
        "1:12 rust-construct: `await` is not part of the language | tensor functions run to their end",
    ]),
    ("fn f() { 0..3 }", &[
        "1:11 rust-construct: a range is not a value | ranges stand in an index, as `x[1..T]`; numbers in order are `iota(n)`",
    ]),
    ("fn f() { (f)(x) }", &[
        "1:13 expected: only a function's name can be called | functions are not values; write `*` between factors",
    ]),
    ("fn f() { f(x)(y) }", &[
        "1:14 expected: only a function's name can be called | functions are not values; write `*` between factors",
    ]),
    ("fn f() { 2(x) }", &[
        "1:11 expected: only a function's name can be called | functions are not values; write `*` between factors",
    ]),
    ("fn f() { x as f32[2] }", &[
        "1:18 expected: a cast changes the element type and no shape | write `as f32`; to index the result put it in parentheses",
    ]),
    ("fn f() { x as }", &[
        "1:15 expected: expected the name of an element type, found `}`",
    ]),
    ("fn f() { 'a: x }", &[
        "1:10 rust-construct: there are no lifetimes or labels | leave it out",
    ]),
    ("fn f() { unsafe { x } }", &[
        "1:10 rust-construct: `unsafe` is not part of the language | there is nothing unsafe to do",
    ]),
    ("fn f() { x + }", &[
        "1:14 expected: expected an expression, found `}`",
    ]),
    ("fn f() { (x }", &[
        "1:13 tokens: this is not a token of Rust, or a bracket has no partner | close every bracket, quote and comment, and use Rust's names, numbers and operators",
    ]),
    ("fn f() { f(a b) }", &[
        "1:14 expected: expected `,` or `)`, found `b`",
    ]),
    ("fn f() { f(a,, b) }", &[
        "1:14 expected: expected an expression, found `,`",
    ]),
    ("fn f() { x. }", &[
        "1:13 expected: expected the name of a function or field, found `}`",
    ]),
    ("fn f() { x.+ }", &[
        "1:12 expected: expected the name of a function or field, found `+`",
    ]),
    ("fn f() { x.1e5 }", &[
        "1:12 expected: expected a position such as `.0`, or a name, found `1e5`",
    ]),
    ("fn f() { r#x }", &[
        "1:10 rust-construct: `r#x` is a raw name, which the language does not have | choose a name that is not a keyword",
    ]),
    ("fn f() { if }", &[
        "1:13 expected: expected an expression, found `}`",
    ]),
    ("fn f() { mut }", &[
        "1:10 expected: expected an expression, found `mut`",
    ]),
    // Options.
    ("fn f() { sum(x, axis: 1) }", &[
        "1:21 option-form: a named option is not written with `:` | write `name = value`",
    ]),
    ("fn f() { sum(x, axis = 1, y) }", &[
        "1:27 option-form: an argument without a name cannot follow named options | write it before the options",
    ]),
    ("fn f() { sum(x, keepdims = true, axis == 1) }", &[
        "1:34 option-form: an argument without a name cannot follow named options | an option is written `axis = ..`, with one `=`",
    ]),
    ("fn f() { sum(x, axis =) }", &[
        "1:23 expected: expected an expression, found `)`",
    ]),
    ("fn f() { sum(x, for = 1) }", &[
        "1:17 expected: `for` is a keyword and cannot be the name of an option",
    ]),
    // Indices.
    ("fn f() { x[] }", &[
        "1:11 expected: an index has at least one item | `x[..]` is all of `x`, `x[0]` its first element along the first axis",
    ]),
    ("fn f() { x[1..=2] }", &[
        "1:13 rust-construct: ranges of an index leave out their end | write `from..to` with one past the last index",
    ]),
    ("fn f() { x[..=2] }", &[
        "1:12 rust-construct: ranges of an index leave out their end | write `from..to` with one past the last index",
    ]),
    ("fn f() { x[1:2] }", &[
        "1:13 rust-construct: a range is not written with `:` | write `from..to`, and a step as `from..to;step`",
    ]),
    ("fn f() { x[1;2] }", &[
        "1:13 expected: expected `,` or `]`, found `;`",
    ]),
    ("fn f() { x[:] }", &[
        "1:12 rust-construct: a range is not written with `:` | write `from..to`, and a step as `from..to;step`",
    ]),
    ("fn f() { x[1, 2 3] }", &[
        "1:17 expected: expected `,` or `]`, found `3`",
    ]),
    // Literals.
    ("fn f() { 99999999999999999999 }", &[
        "1:10 literal: this integer fits no type | a float is written with a point, as `1e20` or `1.0`",
    ]),
    ("fn f() { 3000000000i32 }", &[
        "1:10 literal: this integer does not fit `i32` | a float is written with a point, as `1e20` or `1.0`",
    ]),
    ("fn f() { 300u8 }", &[
        "1:10 literal: this integer does not fit `u8` | a float is written with a point, as `1e20` or `1.0`",
    ]),
    ("fn f() { 1usize }", &[
        "1:10 literal: `usize` is not a type of numbers here | suffixes are the types of numbers, such as `f32` and `i64`; without one a literal takes the type of what it meets",
    ]),
    ("fn f() { 1.0f8 }", &[
        "1:10 literal: `f8` is not a type of numbers here | suffixes are the types of numbers, such as `f32` and `i64`; without one a literal takes the type of what it meets",
    ]),
    ("fn f() { 1.5i32 }", &[
        "1:10 literal: a number with a point has no type `i32` | suffixes of floats are `f32`, `f64`, `f16` and `bf16`",
    ]),
    ("fn f() { 1e999 }", &[
        "1:10 literal: this number is beyond the greatest finite `f64` | infinity is written `1.0 / 0.0`",
    ]),
    ("fn f() { 1e39f32 }", &[
        "1:10 literal: this number is beyond the greatest finite `f32` | infinity is written `1.0 / 0.0`",
    ]),
    ("fn f() { 'c' }", &[
        "1:10 literal: characters are not values of the language | a string is written `\"..\"`",
    ]),
    ("fn f() { b\"x\" }", &[
        "1:10 literal: this kind of literal is not a value of the language | values are numbers, `true` and `false`",
    ]),
    ("fn f() { [] }", &[
        "1:10 literal: a tensor literal without elements has no element type | write `zeros([0])` with an ascription",
    ]),
    ("fn f() { [0.0; 4] }", &[
        "1:14 rust-construct: there are no repeat literals | write `full([n], value)`, `zeros([n])` or `ones([n])`",
    ]),
    ("fn f() { 1abc }", &[
        "1:10 literal: `abc` is not a type of numbers here | suffixes are the types of numbers, such as `f32` and `i64`; without one a literal takes the type of what it meets",
    ]),
    // Texts.
    ("fn f() { \"x }", &[
        "1:10 tokens: this is not a token of Rust, or a bracket has no partner | close every bracket, quote and comment, and use Rust's names, numbers and operators",
    ]),
    ("fn f() { (] }", &[
        "1:11 tokens: this is not a token of Rust, or a bracket has no partner | close every bracket, quote and comment, and use Rust's names, numbers and operators",
    ]),
    // Several at once.
    ("fn f() {\n  let a = ;\n  let b = &a;\n  b\n}\nimpl S;\nfn g(x) { 1 }\nfn h() { a &&\n b }", &[
        "2:11 expected: expected an expression, found `;`",
        "3:11 rust-construct: there are no references in expressions | write the name itself; values are never moved",
        "6:1 rust-construct: `impl` is not part of the language | a block holds `fn`, `struct` and `const` items",
        "7:7 expected: expected `:` and the type of the parameter, found `)` | write `x: f32[N]`, or `x: f32` for a scalar",
        "8:12 rust-construct: `&&` is not part of the language | `&` is elementwise and binds tighter than comparisons: write `(a < b) & (c < d)`",
    ]),
];
