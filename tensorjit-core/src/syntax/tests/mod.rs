//! What the parser makes of texts, and what it says of those it cannot read.

mod errors;
mod hostile;
mod share;
mod shown;

use super::ast::{Generic, Item};
use super::*;
use shown::{body, condition, expr, generic, ty};

/// The only function of a text without errors.
fn function(text: &str) -> Function {
    let parsed = parse_text(text);
    let said: Vec<String> =
        parsed.diagnostics.iter().map(|d| d.render(&parsed.sources, "test", text)).collect();
    assert!(said.is_empty(), "{}", said.join("\n"));
    let mut items = parsed.block.items;
    assert_eq!(items.len(), 1, "{text}");
    match items.remove(0) {
        Item::Fn(function) => function,
        Item::Const(_) | Item::Struct(_) => panic!("{text} is no function"),
    }
}

#[test]
fn expressions() {
    for (text, expected) in [
        // Literals and names.
        ("1", "1"),
        ("1_000i64", "1000:i64"),
        ("0x1f", "31"),
        ("2.5e-3", "2.5e-3"),
        ("1f32", "1:f32"),
        ("1.5f64", "1.5:f64"),
        ("9223372036854775808", "9223372036854775808"),
        ("true", "true"),
        ("x", "x"),
        // Precedence is Rust's, and `@` stands with `*`.
        ("a + b * c", "(+ a (* b c))"),
        ("a * b @ c", "(@ (* a b) c)"),
        ("a @ b * c @ d", "(@ (* (@ a b) c) d)"),
        ("x @ w + b - y", "(- (+ (@ x w) b) y)"),
        ("a - b - c", "(- (- a b) c)"),
        ("a / b / c % d", "(% (/ (/ a b) c) d)"),
        ("-a * b", "(* (- a) b)"),
        ("-a.abs()", "(- (.abs a))"),
        ("- - !a", "(- (- (! a)))"),
        ("-x as f32", "(as (- x) f32)"),
        ("a * b as f32", "(* a (as b f32))"),
        ("a as f64 as i32 + 1", "(+ (as (as a f64) i32) 1)"),
        ("a & b == c", "(== (& a b) c)"),
        ("a | b ^ c & d + e", "(| a (^ b (& c (+ d e))))"),
        ("(a < b) & (b <= c)", "(& (< a b) (<= b c))"),
        ("a < -1", "(< a (- 1))"),
        ("(a + b) * c", "(* (+ a b) c)"),
        ("a >= b + 1", "(>= a (+ b 1))"),
        ("a != b", "(!= a b)"),
        // Calls.
        ("relu(x)", "(relu x)"),
        ("relu(x,)", "(relu x)"),
        ("mod(a, b) + a.mod(b)", "(+ (mod a b) (.mod a b))"),
        ("f()", "(f)"),
        ("x.relu()", "(.relu x)"),
        ("x.sum(axis = 1).exp()", "(.exp (.sum x axis=1))"),
        ("sum(x * x, axis = (0, -1), keepdims = true)", "(sum (* x x) axis=(tuple 0 (- 1)) keepdims=true)"),
        ("gelu(x, form = \"tanh\")", "(gelu x form=\"tanh\")"),
        ("f(a == b, c)", "(f (== a b) c)"),
        // Tuples and fields.
        ("()", "(tuple)"),
        ("(a)", "a"),
        ("(a,)", "(tuple a)"),
        ("(a, (b, c))", "(tuple a (tuple b c))"),
        ("x.0", "(field x 0)"),
        ("x.0.1", "(field (field x 0) 1)"),
        ("x.0.1.2", "(field (field (field x 0) 1) 2)"),
        ("layer.w @ x", "(@ (field layer w) x)"),
        ("f(x).0[1]", "(index (field (f x) 0) 1)"),
        // Tensor literals and blocks.
        ("[1.0, 2.0]", "[1.0 2.0]"),
        ("[[1, 2], [3, 4],]", "[[1 2] [3 4]]"),
        ("{ a }", "{a}"),
        ("{ let b = a; b } + c", "(+ {let b = a; b} c)"),
        // Indices.
        ("x[0]", "(index x 0)"),
        ("x[..]", "(index x ..)"),
        ("x[.., 1..T;2, 0]", "(index x .. 1..T;2 0)"),
        ("x[1..]", "(index x 1..)"),
        ("x[..T - 1]", "(index x ..(- T 1))"),
        ("x[..-1]", "(index x ..(- 1))"),
        ("x[..;2, 3..;4]", "(index x ..;2 3..;4)"),
        ("x[-1, ids]", "(index x (- 1) ids)"),
        ("x[2 * B + 1..4 * B]", "(index x (+ (* 2 B) 1)..(* 4 B))"),
        ("x[0][1]", "(index (index x 0) 1)"),
    ] {
        let function = function(&format!("fn f() {{ {text} }}"));
        let value = function.body.value.unwrap_or_else(|| panic!("{text} has no value"));
        assert_eq!(expr(&value), expected, "{text}");
    }
}

#[test]
fn statements() {
    for (text, expected) in [
        ("", "{}"),
        (";;", "{}"),
        ("let a = 1; a", "{let a = 1; a}"),
        ("let a: f32[B, 2 * H] = x; a", "{let a: f32[B, (* 2 H)] = x; a}"),
        ("let (a, (b, _)) = f(x); a", "{let (a, (b, _)) = (f x); a}"),
        ("let (a) = x; a", "{let a = x; a}"),
        ("m = 0.9 * m;", "{m = (* 0.9 m);}"),
        (
            "m += g; m -= g; m *= g; m /= g; m %= g;",
            "{m = (+ m g); m = (- m g); m = (* m g); m = (/ m g); m = (% m g);}",
        ),
        ("m @= w; m &= b; m |= b; m ^= b;", "{m = (@ m w); m = (& m b); m = (| m b); m = (^ m b);}"),
        ("m = m + 1.0; (m, 2)", "{m = (+ m 1.0); (tuple m 2)}"),
        ("let mut h = x; let (mut a, b) = y;", "{let mut h = x; let (mut a, b) = y;}"),
        ("p.ls[0].w = 1; p.b -= 2;", "{p.ls[0].w = 1; p.b = (- (field p b) 2);}"),
        ("let p: [Layer<2 * D, D>; 6] = q;", "{let p: [Layer<(* 2 D), D>; 6] = q;}"),
        ("Layer { w: a + 1, b, ..p.first }", "{(struct Layer w=(+ a 1) b=b ..(field p first))}"),
        ("for i in 0..N - 1 { m = i; }", "{for i in 0..(- N 1) {m = i;}}"),
        (
            "for (i, l) in enumerate(p.ls[1..]) { } 1",
            "{for (i, l) in (enumerate (index (field p ls) 1..)) {} 1}",
        ),
        (
            "for l in ls { h = f(h, l); } for l in f(P { a }) { } h",
            "{for l in ls {h = (f h l);} for l in (f (struct P a=a)) {} h}",
        ),
        ("for i in 1..=3 { for j in i..4 { } }", "{for i in 1..=3 {for j in i..4 {}}}"),
    ] {
        assert_eq!(body(&function(&format!("fn f() {{ {text} }}")).body), expected, "{text}");
    }
}

#[test]
fn heads_of_functions() {
    let text = "
        /// Words.
        #[inline]
        pub(crate) fn f<B: 1..=64, K, N: 8.., M: ..=9, L: 2..5, T: float, ..S>(
            x: f32[B, 3],
            s: f32,
            m: &mut T[..S, N],
            axis: int = -1,
        ) -> (f32, f32[B]) where K % 4 == 0, N == 2 * M, L >= 1, B != K { (s, x) }";
    let function = function(text);
    assert_eq!(function.attributes.len(), 2);
    assert_eq!(function.attributes[0].to_string(), "# [doc = \" Words.\"]");
    assert_eq!(function.visibility.to_string(), "pub (crate)");
    assert!(function.public);
    assert_eq!(function.name.text, "f");
    let generics: Vec<String> = function.generics.iter().map(generic).collect();
    assert_eq!(generics, ["B: 1..=64", "K", "N: 8..", "M: ..=9", "L: 2..=(- 5 1)", "T: float", "..S"]);
    assert!(matches!(function.generics[5], Generic::Elem { .. }));
    let params: Vec<String> = function
        .params
        .iter()
        .map(|p| {
            let default = p.default.as_ref().map_or_else(String::new, |value| format!(" = {}", expr(value)));
            format!("{}: {}{}{default}", p.name.text, if p.mutable { "&mut " } else { "" }, ty(&p.ty))
        })
        .collect();
    assert_eq!(params, ["x: f32[B, 3]", "s: f32", "m: &mut T[..S, N]", "axis: int = (- 1)"]);
    assert_eq!(function.result.as_ref().map(ty).as_deref(), Some("(f32, f32[B])"));
    let conditions: Vec<String> = function.conditions.iter().map(condition).collect();
    assert_eq!(conditions, ["(% K 4) == 0", "N == (* 2 M)", "L >= 1", "B != K"]);
}

#[test]
fn items_of_a_block() {
    let text = "
        /// A rate.
        pub const RATE: f32 = 0.1;
        const SHAPE: f32[2] = [1.0, -2.0];
        fn helper<N>(x: f32[N]) -> f32[N] { x * RATE }
        #[derive(PartialEq)] pub(crate) struct Layer<I, O> { /// Weights.
            w: f32[I, O], pub ls: [Inner<I>; 2], }
        pub fn step<N>(m: &mut f32[N]) { m = helper(m); }";
    let parsed = parse_text(text);
    assert_eq!(parsed.diagnostics, []);
    let shown: Vec<String> = parsed
        .block
        .items
        .iter()
        .map(|item| match item {
            Item::Const(c) => format!("const {}: {} = {}", c.name.text, ty(&c.ty), expr(&c.value)),
            Item::Struct(s) => {
                let fields = s.fields.iter().map(|field| {
                    format!("{}{}: {}", "#".repeat(field.attributes.len()), field.name.text, ty(&field.ty))
                });
                let (fields, generics) = (fields.collect::<Vec<_>>(), s.generics.iter().map(generic));
                let generics = generics.collect::<Vec<_>>().join(", ");
                format!("{} struct {}<{generics}> {{ {} }}", s.visibility, s.name.text, fields.join(", "))
            }
            Item::Fn(f) => format!("{}fn {}", if f.public { "pub " } else { "" }, f.name.text),
        })
        .collect();
    assert_eq!(
        shown,
        [
            "const RATE: f32 = 0.1",
            "const SHAPE: f32[2] = [1.0 (- 2.0)]",
            "fn helper",
            "pub (crate) struct Layer<I, O> { #w: f32[I, O], ls: [Inner<I>; 2] }",
            "pub fn step"
        ]
    );
    let Item::Const(rate) = &parsed.block.items[0] else { panic!() };
    assert_eq!(rate.tokens.to_string(), "# [doc = \" A rate.\"] pub const RATE : f32 = 0.1 ;");
}

/// Places are those of the tokens: an operator's own, and the whole expression's.
#[test]
fn places() {
    let text = "fn f() { let a = x\n  @ w.t(axis = 1) + b[0]; a }";
    let parsed = parse_text(text);
    let Item::Fn(function) = &parsed.block.items[0] else { panic!() };
    let super::ast::Statement::Let { value, .. } = &function.body.statements[0] else { panic!() };
    let mut found = Vec::new();
    shown::walk(value, &mut |e| {
        let show = |origin| {
            let (first, last) = parsed.sources.spans(origin);
            let (start, end) = (first.start(), last.end());
            format!("{}:{}-{}:{}", start.line, start.column, end.line, end.column)
        };
        found.push(format!("{} at {} of {}", expr(e), show(e.at), show(e.span)));
    });
    assert_eq!(
        found,
        [
            "(+ (@ x (.t w axis=1)) (index b 0)) at 2:18-2:19 of 1:17-2:24",
            "(@ x (.t w axis=1)) at 2:2-2:3 of 1:17-2:17",
            "x at 1:17-1:18 of 1:17-1:18",
            "(.t w axis=1) at 2:6-2:7 of 2:4-2:17",
            "w at 2:4-2:5 of 2:4-2:5",
            "(index b 0) at 2:21-2:24 of 2:20-2:24",
            "b at 2:20-2:21 of 2:20-2:21",
        ]
    );
}

/// Text that the user cannot see has the one place that it is given.
#[test]
fn pinned_places() {
    let at = Origin(7);
    let function = parse_function_text("fn relu<T: float, ..S>(x: T[..S]) -> T[..S] { maximum(x, 0) }", at);
    let function = function.unwrap();
    assert_eq!((function.at, function.name.at, function.body.at), (at, at, at));
    for text in ["", "fn f() {} fn g() {}", "const A: f32 = 1.0;", "fn f( {"] {
        assert!(parse_function_text(text, at).is_err_and(|problems| problems[0].at == at), "{text}");
    }
}

/// Paths that are fragments of other macros arrive in invisible brackets.
#[test]
fn invisible_brackets_of_paths() {
    use proc_macro2::{Delimiter, Group, TokenTree};
    let wrapped = |text: &str| TokenTree::from(Group::new(Delimiter::None, text.parse().unwrap()));
    let plain = |text: &str| text.parse::<TokenStream>().unwrap();
    let mut list = plain("h,");
    list.extend([wrapped("b::g")]);
    let mut tokens = plain("use");
    tokens.extend([wrapped("crate::a::f")]);
    tokens.extend(plain("as other; use ::a::"));
    tokens.extend([TokenTree::from(Group::new(Delimiter::Brace, list))]);
    tokens.extend(plain("; fn k() {}"));
    let (uses, _) = imports(&tokens).unwrap();
    let found = uses.iter().map(|used| {
        let path = used.path.to_string().replace(' ', "");
        format!("{path} {} {}", used.item.text, used.name.text)
    });
    assert_eq!(found.collect::<Vec<_>>(), ["crate::a:: f other", "::a:: h h", "::a::b:: g g"]);
}

/// Fragments of other macros arrive in invisible brackets, which count as parentheses.
#[test]
fn invisible_brackets() {
    use proc_macro2::{Delimiter, Group, TokenTree};
    let wrapped = |text: &str| TokenTree::from(Group::new(Delimiter::None, text.parse().unwrap()));
    let mut body: TokenStream = [wrapped("a + b")].into_iter().collect();
    body.extend("* 2".parse::<TokenStream>().unwrap());
    let mut tokens: TokenStream = [wrapped(""), wrapped("pub(crate)")].into_iter().collect();
    tokens.extend("fn f".parse::<TokenStream>().unwrap());
    let params: TokenStream = ["x :".parse().unwrap(), [wrapped("f32 [N]")].into_iter().collect()]
        .into_iter()
        .collect::<Vec<TokenStream>>()
        .into_iter()
        .collect();
    tokens.extend([
        TokenTree::from(Group::new(Delimiter::Parenthesis, params)),
        TokenTree::from(Group::new(Delimiter::Brace, body)),
    ]);
    let parsed = parse(tokens, Vec::new());
    assert_eq!(parsed.diagnostics, []);
    let Item::Fn(function) = &parsed.block.items[0] else { panic!() };
    assert!(function.public);
    assert_eq!(function.visibility.to_string().replace(' ', ""), "pub(crate)");
    assert_eq!(function.body.value.as_deref().map(expr).as_deref(), Some("(* (+ a b) 2)"));
    assert_eq!(ty(&function.params[0].ty), "f32[N]");
}
