//! Cases in text files: a block, then the graphs that it becomes or the errors that it has, in full.
//!
//! With `BLESS=1` in the environment the expectations are rewritten, to be read before they are kept.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

use tensorjit_runtime::abi::DType;

use super::{CheckedFunction, check};
use crate::autodiff;
use crate::diag::{CODES, Diagnostic, Failure};
use crate::syntax::parse_text;

/// One case: a name, a block, and what is expected.
struct Case {
    name: String,
    text: String,
    expected: String,
}

fn path(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/check/cases").join(file)
}

fn cases(file: &str) -> Vec<Case> {
    let all = std::fs::read_to_string(path(file)).expect("the cases can be read");
    let all = format!("\n{all}");
    all.split("\n== ")
        .skip(1)
        .map(|case| {
            let (name, rest) = case.split_once('\n').expect("a case has a name and a text");
            let (text, expected) = rest.split_once("\n--\n").unwrap_or((rest.trim_end(), ""));
            Case { name: name.to_owned(), text: text.to_owned(), expected: expected.trim_end().to_owned() }
        })
        .collect()
}

/// What a block becomes: its functions, or its errors.
fn outcome(text: &str) -> Result<Vec<CheckedFunction>, (Vec<Diagnostic>, String)> {
    let parsed = parse_text(text);
    // Some mistakes about derivatives show when they are taken.
    let differentiated = |functions: Vec<CheckedFunction>| {
        functions.iter().try_for_each(|function| autodiff::run(function.graph.clone()).map(|_| ()))?;
        Ok(functions)
    };
    let found = if parsed.diagnostics.is_empty() {
        match check(&parsed.block).and_then(differentiated) {
            Ok(functions) => return Ok(functions),
            Err(Failure::User(diagnostics)) => diagnostics,
            Err(Failure::Bug(bug)) => panic!("{bug}\n{text}"),
        }
    } else {
        parsed.diagnostics
    };
    let rendered: String =
        found.iter().map(|diagnostic| diagnostic.render(&parsed.sources, "case", text)).collect();
    Err((found, rendered))
}

fn shown(function: &CheckedFunction) -> String {
    let facts = &function.graph.facts;
    let mut out = String::new();
    for param in &function.params {
        let bound =
            param.index_bound.as_ref().map_or(String::new(), |bound| format!(" in 0..{}", facts.show(bound)));
        let _ = writeln!(out, "{:?} {}{bound}", param.role, param.name);
    }
    for (name, ty) in &function.results {
        let shape = if ty.shape.is_empty() { String::new() } else { facts.show_shape(&ty.shape) };
        let _ = writeln!(out, "{name}: {}{shape}", ty.dtype.name());
    }
    let _ = write!(out, "{}", function.graph);
    out
}

/// Compares every case of a file, or rewrites the file.
fn run(file: &str, judge: impl Fn(&Case) -> String) {
    let cases = cases(file);
    assert!(!cases.is_empty(), "{file} has no cases");
    if std::env::var_os("BLESS").is_some() {
        let blessed: Vec<String> = cases
            .iter()
            .map(|case| format!("== {}\n{}\n--\n{}\n", case.name, case.text, judge(case).trim_end()))
            .collect();
        std::fs::write(path(file), blessed.join("\n")).expect("the cases can be written");
        return;
    }
    for case in &cases {
        let found = judge(case);
        assert_eq!(found.trim_end(), case.expected, "{file}: {}\n{}\n--\n{found}", case.name, case.text);
    }
}

fn accepted(case: &Case) -> String {
    match outcome(&case.text) {
        Ok(functions) => functions.iter().map(shown).collect(),
        Err((_, rendered)) => panic!("{}\n{}\n{rendered}", case.name, case.text),
    }
}

fn refused(case: &Case) -> String {
    match outcome(&case.text) {
        Ok(_) => panic!("{} has no error\n{}", case.name, case.text),
        Err((_, rendered)) => rendered,
    }
}

/// The blocks of the programs that must not compile, each named by its folder and file.
fn mistakes() -> Vec<Case> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fail");
    let sorted = |folder: PathBuf| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&folder).expect("the folder can be read");
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
        paths.sort();
        paths
    };
    // Imports lead out of the text.
    let folders = sorted(root.clone()).into_iter().filter(|folder| !folder.ends_with("imports"));
    let files = folders.flat_map(sorted);
    files
        .filter(|file| file.extension().is_some_and(|extension| extension == "rs"))
        .map(|file| {
            let source = std::fs::read_to_string(&file).expect("the program can be read");
            let block =
                source.split_once("tensor_fn! {\n").and_then(|(_, rest)| rest.split_once("\n}\n\nfn main"));
            let (text, _) = block.expect("the program has one block");
            let name = file.strip_prefix(&root).expect("a file below the root").with_extension("");
            Case { name: name.display().to_string(), text: text.to_owned(), expected: String::new() }
        })
        .collect()
}

/// Every program that must not compile has errors, in full in `mistakes.txt`.
#[test]
fn errors() {
    let found: Vec<String> =
        mistakes().iter().map(|case| format!("== {}\n{}", case.name, refused(case))).collect();
    let found = found.join("\n");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path("mistakes.txt"), &found).expect("the errors can be written");
    }
    let expected = std::fs::read_to_string(path("mistakes.txt")).expect("the errors can be read");
    for (found, expected) in found.split("\n== ").zip(expected.split("\n== ")) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.len(), expected.len());
}

#[test]
fn graphs() {
    run("graphs.txt", accepted);
}

#[test]
fn prelude() {
    run("prelude.txt", accepted);
}

#[test]
fn every_code_has_a_case_and_every_case_a_known_code() {
    let mut seen = BTreeSet::new();
    for case in mistakes() {
        if let Err((diagnostics, _)) = outcome(&case.text) {
            seen.extend(diagnostics.into_iter().map(|diagnostic| diagnostic.code));
        }
    }
    let known: BTreeSet<&str> = CODES.iter().map(|code| code.name).collect();
    let unknown: Vec<_> = seen.difference(&known).collect();
    assert!(unknown.is_empty(), "codes that the table lacks: {unknown:?}");
    // Rust itself refuses the first, the second is too long to read, imports need other blocks, and the others come
    // from later stages.
    seen.extend(["tokens", "too-deep", "import", "no-derivative", "size"]);
    let untested: Vec<_> = known.difference(&seen).collect();
    assert!(untested.is_empty(), "codes without a case: {untested:?}");
}

/// The values of functions of the prelude, by an interpreter of the graph, at the points where care was taken.
#[test]
fn prelude_values() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let table: &[(&str, &[f64], &[f64])] = &[
        ("relu(x)", &[-1.0, -0.0, 2.0, nan, inf], &[0.0, 0.0, 2.0, nan, inf]),
        ("leaky_relu(x)", &[-2.0, 3.0, nan], &[-0.02, 3.0, nan]),
        ("elu(x)", &[-inf, 0.0, 3.0], &[-1.0, 0.0, 3.0]),
        ("silu(x)", &[0.0, 1.0, -1000.0], &[0.0, 0.7310585786300049, 0.0]),
        ("gelu(x)", &[0.0, 1.0, -1.0], &[0.0, 0.8413447460685429, -0.15865525393145707]),
        ("gelu(x, approximate = true)", &[0.0, 1.0, -1.0], &[0.0, 0.8411919906082768, -0.15880800939172324]),
        ("softplus(x)", &[-800.0, 0.0, 800.0, nan], &[0.0, std::f64::consts::LN_2, 800.0, nan]),
        ("log_sigmoid(x)", &[-1000.0, 0.0, 1000.0], &[-1000.0, -std::f64::consts::LN_2, 0.0]),
        ("softmax(x)", &[1000.0, 1000.0], &[0.5, 0.5]),
        ("softmax(x)", &[0.0, -inf], &[1.0, 0.0]),
        ("log_softmax(x)", &[1000.0, 0.0], &[0.0, -1000.0]),
        ("expand_dims(logsumexp(x), 0)", &[-inf, -inf], &[-inf]),
        ("expand_dims(logsumexp(x), 0)", &[1.0, inf], &[inf]),
        ("expand_dims(logsumexp(x), 0)", &[-1000.0, -1000.0], &[-1000.0 + std::f64::consts::LN_2]),
        ("logsumexp(x, keepdims = true)", &[0.0, 0.0], &[std::f64::consts::LN_2]),
        ("expand_dims(mean(x), 0)", &[1.0, 2.0, 6.0], &[3.0]),
        ("expand_dims(mean(x), 0)", &[], &[nan]),
        ("expand_dims(var(x), 0)", &[1e8, 1e8 + 2.0], &[1.0]),
        ("expand_dims(var(x, correction = 1), 0)", &[1.0, 3.0], &[2.0]),
        ("std(x, keepdims = true)", &[1.0, 5.0], &[2.0]),
        ("norm(x, keepdims = true)", &[3.0, 4.0], &[5.0]),
        ("layer_norm(x, epsilon = 0)", &[1.0, 3.0], &[-1.0, 1.0]),
        ("layer_norm(x, 2, 1, epsilon = 0)", &[1.0, 3.0], &[-1.0, 3.0]),
        ("expand_dims(mse(x, zeros([N])), 0)", &[1.0, 3.0], &[5.0]),
        ("linspace(1, 3, N)", &[0.0, 0.0, 0.0], &[1.0, 2.0, 3.0]),
        ("linspace(1, 3, N)", &[0.0], &[1.0]),
        ("linspace(0, 1, N, endpoint = false)", &[0.0, 0.0], &[0.0, 0.5]),
        ("arange(N, 0, -1) * (x + 1)", &[0.0, 0.0, 0.0], &[3.0, 2.0, 1.0]),
        ("x @ eye(N, dtype = f64)", &[4.0, 5.0], &[4.0, 5.0]),
        (
            "cross_entropy(expand_dims(x, 0), [1i64], reduction = \"none\")",
            &[0.0, 0.0],
            &[std::f64::consts::LN_2],
        ),
        ("reshape(one_hot([1i64], N), [N]) * x", &[2.0, 3.0], &[0.0, 3.0]),
    ];
    for (expression, input, expected) in table {
        let extent = if expected.len() == input.len() { "N" } else { "1" };
        let text = format!("pub fn f<N>(x: f64[N]) -> f64[{extent}] {{ {expression} }}");
        let functions = outcome(&text).unwrap_or_else(|(_, rendered)| panic!("{rendered}"));
        let x = crate::graph::value::Value::floats(DType::F64, &[input.len()], input);
        let graph = crate::autodiff::run(functions[0].graph.clone()).expect("no rule is left");
        let found = crate::interp::run(&graph, &[input.len() as i64], &[x]).expect("it runs");
        let found = found[0].to_f64();
        let close =
            |a: &f64, b: &f64| a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-14 * b.abs();
        let fits = found.len() == expected.len() && found.iter().zip(*expected).all(|(a, b)| close(a, b));
        assert!(fits, "{expression} at {input:?}: {found:?}, expected {expected:?}");
    }
}

/// Texts that would exhaust the stack or double without end are refused, or checked in good time.
#[test]
fn hostile_texts_end() {
    let steps = "let a = a + a * 0.5;\n".repeat(400);
    let deep_literal = format!("pub fn f(x: f32) -> f32 {{ let a = 1.5;\n{steps} x * a }}");
    let chain: String = (1..100).map(|i| format!("fn h{i}(x: f32) -> f32 {{ h{}(x) }}\n", i - 1)).collect();
    let deep_calls = format!("fn h0(x: f32) -> f32 {{ x }}\n{chain}pub fn f(x: f32) -> f32 {{ h99(x) }}");
    let triple: String = (1..12)
        .map(|i| format!("fn h{i}(x: f32) -> f32 {{ let f = h{0}(x); h{0}(f) + h{0}(f + 1) }}\n", i - 1))
        .collect();
    let many_calls = format!("fn h0(x: f32) -> f32 {{ x }}\n{triple}pub fn f(x: f32) -> f32 {{ h11(x) }}");
    for text in [deep_literal, deep_calls, many_calls] {
        let (found, _) = outcome(&text).expect_err("it is too deep");
        assert!(found.iter().all(|diagnostic| diagnostic.code == "too-deep"), "{found:?}");
    }
    let shared = "let a = a + a;\n".repeat(60);
    let (x, typed) = ("pub fn f(x: f32) -> f32 { let a = 1.5;", " x * a }");
    assert!(outcome(&format!("{x}\n{shared}{typed}")).is_ok());
}
