//! Texts that nobody writes by accident: the parser answers with diagnostics, within bounded time and stack.

use super::super::*;

/// Parses on a thread with a small stack, as the macro may run on one.
fn codes(text: String) -> Vec<&'static str> {
    let run = move || parse_text(&text).diagnostics.iter().map(|d| d.code).collect();
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap()
}

#[test]
fn nesting_is_limited() {
    let nested = |open: &str, close: &str, depth: usize| {
        format!("fn f() {{ {}x{} }}", open.repeat(depth), close.repeat(depth))
    };
    for (open, close) in
        [("(", ")"), ("[", "]"), ("{", "}"), ("f(", ")"), ("x[", "]"), ("-", ""), ("!", ""), ("1+(", ")")]
    {
        assert_eq!(codes(nested(open, close, 30)), [""; 0], "{open}");
        for depth in [127, 128, 1000, 20_000] {
            let found = codes(nested(open, close, depth));
            assert!(found.iter().all(|code| *code == "too-deep"), "{open} {depth}: {found:?}");
            assert!(depth < 129 || !found.is_empty(), "{open} {depth}");
        }
    }
}

#[test]
fn chains_are_limited() {
    for link in [" + x", " * x", " @ x", ".abs()", "[0]", ".0", " as f32"] {
        let chain = |length: usize| format!("fn f() {{ x{} }}", link.repeat(length));
        assert_eq!(codes(chain(200)), [""; 0], "{link}");
        assert_eq!(codes(chain(1000)), ["too-deep"], "{link}");
    }
    // Statements and arguments are rows, not chains.
    assert_eq!(codes(format!("fn f() {{ {} x }}", "let x = x + 1;".repeat(2000))), [""; 0]);
    assert_eq!(codes(format!("fn f() {{ [{}] }}", "1.0, ".repeat(5000))), [""; 0]);
}

#[test]
fn types_and_patterns_are_limited() {
    for depth in [127, 1000] {
        let (open, close) = ("(".repeat(depth), ")".repeat(depth));
        for text in
            [format!("fn f(x: {open}f32{close}) {{ }}"), format!("fn f() {{ let {open}x{close} = 1; }}")]
        {
            let found = codes(text);
            assert!(found.iter().all(|code| *code == "too-deep"), "{depth}: {found:?}");
        }
    }
}

/// Every prefix of a program, and the program with any one token left out or doubled, is answered.
#[test]
fn damaged_programs_are_answered() {
    let text = "pub fn f < B : 1 ..= 64 , K > ( x : f32 [ B , 3 ] , m : & mut f32 ) -> ( f32 , f32 [ B ] ) \
        where K % 4 == 0 , B != 2 { let ( a , b ) = g ( x . 0 , axis = 1 ) ; m = - a @ b [ .. , 1 .. K ; 2 ] ; \
        let c : f32 = { a as f32 } ; ( c , [ 1.0 , 2 ] ) } const A : f32 = 1.0 ;";
    let words: Vec<&str> = text.split_whitespace().collect();
    for index in 0..words.len() {
        let (before, after) = (words[..index].join(" "), words[index + 1..].join(" "));
        for damaged in [
            before.clone(),
            format!("{before} {after}"),
            format!("{before} {} {} {after}", words[index], words[index]),
            format!("{before} ; {after}"),
            format!("{before} @ {after}"),
            format!("{before} let {after}"),
        ] {
            for diagnostic in parse_text(&damaged).diagnostics {
                assert!(!diagnostic.message.is_empty());
            }
        }
    }
}

#[test]
fn odd_texts_are_answered() {
    for text in [
        "",
        " ",
        "\n",
        ";",
        "}",
        "{",
        "fn",
        "fn f",
        "fn f(",
        "fn f()",
        "fn f() {",
        "fn f() }",
        "\"",
        "'",
        "/*",
        "\\",
        "fn größe(größe: f32) -> f32 { größe }",
        "fn f() { 変数 }",
        "fn f() { \u{202e}x }",
        "\u{feff}fn f() {}",
        "#",
        "#[",
        "#![a]",
        "pub",
        "pub(",
        "pub()",
        "where",
        "<",
        "fn f<",
        "fn f<N",
        "fn f<N:",
        "fn f<N: 1..=",
        "r#fn",
        "fn r#let() {}",
        "fn f() { r#x }",
        "fn f() { b'a' }",
        "fn f() { 'a }",
        "fn f() { c\"x\" }",
        "fn f() { 1e }",
        "fn f() { 0x }",
        "fn f() { 1__ }",
        "fn f() { x.1e5 }",
        "fn f() { x.1.}",
        "fn f() { x. }",
        "fn f() { .5 }",
    ] {
        let parsed = parse_text(text);
        for diagnostic in &parsed.diagnostics {
            assert!(!diagnostic.render(&parsed.sources, "odd.tj", text).is_empty());
        }
    }
    let digits = "9".repeat(100_000);
    assert_eq!(codes(format!("fn f() {{ {digits} }}")), ["literal"]);
    assert_eq!(codes(format!("fn f() {{ {digits}.0 }}")), ["literal"]);
}
