//! Tables of questions and their answers, and a walk that checks every answer against values.

use super::Verdict::{Open, Proven, Refuted};
use super::*;

/// Reads an expression in postfix: symbols `a b c`, numbers, `+ - * / ^ % < >` (`/` floor, `^` ceiling, `<`
/// minimum, `>` maximum).
fn dim(text: &str) -> Dim {
    let mut stack: Vec<Dim> = Vec::new();
    for word in text.split_whitespace() {
        let value = match word {
            "a" => Dim::sym(Sym(0)),
            "b" => Dim::sym(Sym(1)),
            "c" => Dim::sym(Sym(2)),
            _ => match word.parse::<i64>() {
                Ok(value) => Dim::constant(value),
                Err(_) => {
                    let (right, left) = (stack.pop().unwrap(), stack.pop().unwrap());
                    match word {
                        "+" => &left + &right,
                        "-" => &left - &right,
                        "*" => &left * &right,
                        "/" => left.floor_div(&right),
                        "^" => left.ceil_div(&right),
                        "%" => left.modulo(&right),
                        "<" => left.minimum(&right),
                        ">" => left.maximum(&right),
                        _ => panic!("{word}"),
                    }
                }
            },
        };
        stack.push(value);
    }
    assert_eq!(stack.len(), 1, "{text}");
    stack.remove(0)
}

fn relation(text: &str) -> Relation {
    match text {
        "==" => Relation::Eq,
        "!=" => Relation::Ne,
        "<" => Relation::Lt,
        "<=" => Relation::Le,
        ">" => Relation::Gt,
        ">=" => Relation::Ge,
        _ => panic!("{text}"),
    }
}

fn condition(text: &str) -> Condition {
    let operator = ["==", "!=", "<=", ">=", "LT", "GT"].into_iter().find(|op| text.contains(op)).unwrap();
    let (left, right) = text.split_once(operator).unwrap();
    let operator = match operator {
        "LT" => "<",
        "GT" => ">",
        other => other,
    };
    Condition { left: dim(left), relation: relation(operator), right: dim(right) }
}

/// Three symbols `a b c`, their bounds where given as `a 1 64`, and clauses, separated by commas.
fn facts(text: &str) -> Facts {
    let mut facts = Facts::default();
    for name in ["a", "b", "c"] {
        facts.symbols.push(SymbolInfo { name: name.into(), low: 0, high: i64::MAX });
    }
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        if let Some((symbol, bounds)) = part.split_once(" in ") {
            let (low, high) = bounds.split_once(' ').unwrap();
            let symbol = facts.symbols.iter_mut().find(|s| s.name == symbol).unwrap();
            symbol.low = low.parse().unwrap();
            symbol.high = high.parse().unwrap_or(i64::MAX);
        } else {
            facts.conditions.push(condition(part));
        }
    }
    facts
}

#[rustfmt::skip]
const DECISIONS: &[(&str, &str, Verdict)] = &[
    // Without facts.
    ("", "a == a", Proven),
    ("", "a b + == b a +", Proven),
    ("", "a == b", Open),
    ("", "a == a 1 +", Refuted),
    ("", "a 2 * == 7", Refuted),
    ("", "a 2 * == b 4 * 1 +", Refuted),
    ("", "a 2 * == 8", Open),
    ("", "a >= 0", Proven),
    ("", "a >= 1", Open),
    ("", "a 1 + GT 0", Proven),
    ("", "a LT 0", Refuted),
    ("", "a b * >= 0", Proven),
    ("", "a b - >= 0", Open),
    ("", "a == 0 1 -", Refuted),
    ("", "a != 0 3 -", Proven),
    // Bounds.
    ("a in 1 64", "a GT 0", Proven),
    ("a in 1 64", "a <= 64", Proven),
    ("a in 1 64", "a == 65", Refuted),
    ("a in 1 64", "a b * <= b 64 *", Proven),
    ("a in 1 64", "a b * >= b", Proven),
    ("a in 1 *, b in 1 *", "a b * >= 1", Proven),
    ("a in 2 *", "a b * b - >= b", Proven),
    ("a in 4 4", "a == 4", Proven),
    ("a in 4 4", "a b * == b 4 *", Proven),
    ("a in 2 9, b in 2 9", "a b * LT 4", Refuted),
    ("a in 0 3", "a a * <= 9", Proven),
    // Equalities.
    ("a == b", "a == b", Proven),
    ("a == b 2 *", "a 2 / == b", Proven),
    ("a == b 2 *", "a 2 % == 0", Proven),
    ("a == b 2 *, b == c 3 *", "a == c 6 *", Proven),
    ("b == c 3 *, a == b 2 *", "a == c 6 *", Proven),
    ("a == b, b == c", "a == c", Proven),
    ("a b * == c", "b a * == c", Proven),
    ("a b * == c", "a b * a * == c a *", Proven),
    ("a b * == c c *", "a b * c * == c c * c *", Proven),
    ("a 2 * == b 3 *", "a 4 * == b 6 *", Proven),
    ("a 2 * == b 3 *", "a == b", Open),
    // Remainders of what has no symbol to be solved for.
    ("a in 1 *, 12 a % == 0", "12 a / a * == 12", Proven),
    ("a in 1 *, 12 a % == 0", "12 a / a * b * == b 12 *", Proven),
    ("a in 1 *, 12 a % == 0", "12 a / b * == b", Open),
    ("c in 1 *, a b * c % == 0", "a b * c / c * == a b *", Proven),
    ("c in 1 *, a b * c % == 1", "a b * c / c * 1 + == a b *", Proven),
    ("c in 1 *, a b * c % == 0, b b * c % == 0", "a b * c / c * b b * c / c * + == a b + b *", Proven),
    ("b in 1 *, c in 1 *, 12 b % == 0, 12 b / c % == 0", "12 b / c / c * b * == 12", Proven),
    ("a == b 1 +", "a b - == 1", Proven),
    ("a == b 1 +", "a == b", Refuted),
    ("a == b 1 +", "a GT b", Proven),
    ("a == 5", "a == 5", Proven),
    ("a == 5", "a b * == b 5 *", Proven),
    ("a == b 4 /", "b 4 / == a", Proven),
    // Divisibility.
    ("a 4 % == 0", "a 4 / 4 * == a", Proven),
    ("a 4 % == 0", "a 4 ^ == a 4 /", Proven),
    ("a 4 % == 0", "a 2 % == 0", Proven),
    ("a 4 % == 0", "a 2 / 2 % == 0", Proven),
    ("a 4 % == 0", "a 8 % == 0", Open),
    ("a 4 % == 0", "a 3 + 4 / 4 * == a", Proven),
    ("a 4 % == 0", "a == 6", Refuted),
    ("a 4 % == 0, a 6 % == 0", "a 12 % == 0", Proven),
    ("a 4 % == 1, a 6 % == 3", "a 12 % == 9", Proven),
    ("a 4 % == 1", "a 4 % == 1", Proven),
    ("a 4 % == 1", "a GT 0", Proven),
    ("a 4 % == 1", "a 4 / 4 * 1 + == a", Proven),
    ("a 4 % == 1", "a == 4", Refuted),
    ("a b % == 0", "a b / b * == a", Proven),
    ("a b % == 0", "b >= 1", Proven),
    ("a b + 4 % == 0", "a b + 4 / 4 * == a b +", Proven),
    ("a 4 % == 0, b == a 4 /", "b 4 * == a", Proven),
    ("a 4 % == 0, b == a 2 *", "b 8 % == 0", Proven),
    ("a 3 * 4 % == 0", "a 4 % == 0", Proven),
    ("a 6 * 4 % == 0", "a 2 % == 0", Proven),
    ("a 4 % == 0, a 4 / == 3", "a == 12", Proven),
    // Inequalities.
    ("a >= 1", "a GT 0", Proven),
    ("a GT b", "a >= 1", Proven),
    ("a GT b", "a b - 1 - >= 0", Proven),
    ("a >= b, b >= c", "a >= c", Proven),
    ("a GT b, b GT c", "a >= c 2 +", Proven),
    ("a GT b", "b >= a", Refuted),
    ("a >= b, b >= a", "a == b", Open),
    ("a >= b 2 *", "a >= b", Proven),
    ("a 2 * >= 3", "a >= 2", Proven),
    ("a >= b", "a c * >= b c *", Proven),
    ("a != 0", "a != 0", Proven),
    ("a != b", "b == a", Refuted),
    ("a != 0", "a 2 - != 0", Open),
    // Atoms.
    ("", "a 4 / >= 0", Proven),
    ("", "a 4 % LT 4", Proven),
    ("", "a b 1 + % <= b", Proven),
    ("", "a 4 / 4 * <= a", Proven),
    ("", "a 4 ^ 4 * >= a", Proven),
    ("", "a 4 ^ 4 * LT a 4 +", Proven),
    ("", "a b < <= a", Proven),
    ("", "a b > >= b", Proven),
    ("", "a a 1 + < == a", Proven),
    ("", "a 0 > == a", Proven),
    ("a <= b", "a b < == a", Proven),
    ("a <= b", "a b > == b", Proven),
    ("", "a 4 / 4 * a 4 % + == a", Proven),
    ("", "a 4 ^ == a 3 + 4 /", Proven),
    ("", "a 2 / 3 / == a 6 /", Proven),
    ("", "a 4 * 2 + 4 / == a", Proven),
    ("", "a 4 * 2 + 4 % == 2", Proven),
    ("", "a 4 * 2 + 4 ^ == a 1 +", Proven),
    ("", "a 2 * 4 / == a 2 /", Proven),
    ("", "a 4 % == 4", Refuted),
    ("a in 0 3", "a 4 / == 0", Proven),
    ("a in 0 3", "a 4 % == a", Proven),
    ("a in 1 4", "a 4 ^ == 1", Proven),
];

#[test]
fn decisions() {
    for (given, asked, expected) in DECISIONS {
        let Condition { left, relation, right } = condition(asked);
        assert_eq!(facts(given).decide(&left, relation, &right), *expected, "given `{given}`: {asked}");
        assert_eq!(
            facts(given).decide(&right, flipped(relation), &left),
            *expected,
            "flipped `{given}`: {asked}"
        );
    }
}

/// No verdict contradicts a value that meets the facts.
#[test]
fn verdicts_hold_for_values() {
    let holds_at = |c: &Condition, values: [i64; 3]| {
        let side = |dim: &Dim| dim.eval(&|sym| values.get(sym.0 as usize).copied());
        Some(holds(side(&c.right)?.checked_sub(side(&c.left)?)?.into(), c.relation))
    };
    let givens: std::collections::BTreeSet<&str> = DECISIONS.iter().map(|row| row.0).collect();
    for given in givens {
        let facts = facts(given);
        let in_bounds = |(s, v): (&SymbolInfo, i64)| s.low <= v && v <= s.high;
        let legal: Vec<[i64; 3]> = (0..13 * 13 * 13_i64)
            .map(|code| [code % 13, code / 13 % 13, code / 169])
            .filter(|values| facts.symbols.iter().zip(*values).all(in_bounds))
            .filter(|values| facts.conditions.iter().all(|c| holds_at(c, *values) == Some(true)))
            // Every symbol alone takes every value; of their combinations a part is enough.
            .filter(|values| values.iter().filter(|v| **v > 4).count() < 2)
            .collect();
        for (_, asked, _) in DECISIONS {
            let question = condition(asked);
            let verdict = facts.decide(&question.left, question.relation, &question.right);
            let proven = facts.decide(&question.left, Relation::Eq, &question.right) == Proven;
            assert_eq!(facts.same(&question.left, &question.right), proven, "given `{given}`: {asked}");
            let normal = facts.normalize(&question.left);
            assert_eq!(facts.normalize(&normal), normal, "given `{given}`: {asked}");
            for values in &legal {
                let Some(truth) = holds_at(&question, *values) else { continue };
                match verdict {
                    Proven => assert!(truth, "given `{given}`: {asked} proven, false at {values:?}"),
                    Refuted => assert!(!truth, "given `{given}`: {asked} refuted, true at {values:?}"),
                    Open => {}
                }
                let value = |dim: &Dim| dim.eval(&|sym| values.get(sym.0 as usize).copied());
                assert_eq!(value(&normal), value(&question.left), "given `{given}`: {asked} at {values:?}");
            }
        }
    }
}

#[test]
fn normal_forms() {
    for (given, from, to) in [
        ("", "a b + a -", "b"),
        ("b == a 2 *", "b a +", "3*a"),
        ("b == a 2 *", "b 2 /", "a"),
        ("a 4 % == 0", "a 4 / 4 *", "a"),
        ("a 4 % == 0", "a 4 /", "floor_div(a, 4)"),
        ("a 4 % == 0", "a 4 ^", "floor_div(a, 4)"),
        ("a 4 % == 0", "a a 4 / +", "a + floor_div(a, 4)"),
        ("a 4 % == 1", "a 1 -", "a - 1"),
        ("a b % == 0", "a b / b *", "a"),
        ("a b + 4 % == 0", "b", "b"),
        ("a 4 % == 0", "a b <", "min(a, b)"),
        ("c in 1 *, a b * c % == 0", "a b * c / c *", "a*b"),
        ("c in 1 *, a b * c % == 0", "a b *", "a*b"),
        ("", "a 5 * 7 + 4 /", "a + floor_div(a + 3, 4) + 1"),
        ("", "a 1 + 4 %", "((a + 1) % 4)"),
        ("", "a b 2 * %", "(a % (2*b))"),
    ] {
        let facts = facts(given);
        assert_eq!(facts.show(&facts.normalize(&dim(from))), to, "given `{given}`: {from}");
    }
}

#[test]
fn ranges() {
    for (given, of, expected) in [
        ("", "a", (Some(0), None)),
        ("a in 1 64", "a", (Some(1), Some(64))),
        ("a in 1 64", "64 a -", (Some(0), Some(63))),
        ("a in 1 64, b in 2 3", "a b *", (Some(2), Some(192))),
        ("", "a b -", (None, None)),
        ("a in 1 *", "a b * b -", (Some(0), None)),
        ("", "a 8 %", (Some(0), Some(7))),
        ("a <= 9", "a 4 /", (Some(0), Some(2))),
        ("a in 1 9", "a 4 ^", (Some(1), Some(3))),
        ("a == 3", "a a *", (Some(9), Some(9))),
        ("a in 9223372036854775806 *", "a a * a *", (Some(0), None)),
    ] {
        assert_eq!(facts(given).range(&dim(of)), expected, "given `{given}`: {of}");
    }
}

#[test]
fn clauses_to_write() {
    for (needed, expected) in [
        ("a == b 2 *", "where a == 2*b"),
        ("b 2 * == a", "where a == 2*b"),
        ("a 1 + == b 1 +", "where a == b"),
        ("a 2 * 4 - == b 2 *", "where a == b + 2"),
        ("a 1 - >= 0", "where a >= 1"),
        ("0 LT a", "where a > 0"),
        ("a b - >= 0", "where a >= b"),
        ("a 4 % == 0", "where a % 4 == 0"),
        ("a 1 + 4 % == 0", "where (a + 1) % 4 == 0"),
        ("3 <= a", "where a >= 3"),
        ("a b + <= 8", "where a + b <= 8"),
        ("a != 0", "where a != 0"),
    ] {
        assert_eq!(facts("").require(&condition(needed)), expected, "{needed}");
    }
}

/// Symbols that nobody declared, extreme bounds and contradictions are answered, not refused.
#[test]
fn hostile_facts() {
    let stranger = Dim::sym(Sym(77));
    let plain = facts("");
    assert_eq!(plain.range(&stranger), (None, None));
    assert_eq!(plain.decide(&stranger, Relation::Ge, &Dim::constant(0)), Open);
    assert_eq!(plain.show(&stranger), "?77");
    assert_eq!(facts("a == 3, a == 4").decide(&dim("a"), Relation::Eq, &Dim::constant(3)), Proven);
    let mut power = dim("a");
    for _ in 0..6 {
        power = &power * &(&power + &Dim::constant(i64::MAX));
    }
    assert_eq!(plain.decide(&power, Relation::Lt, &dim("b")), Open);
    assert_eq!(facts("a a % == 0, a a 1 + % == 0").decide(&dim("a"), Relation::Ge, &dim("b")), Open);
    let loops = facts("a == b 1 +, b == a 1 -, c == a b +, a == c");
    assert!(loops.same(&loops.normalize(&dim("c")), &dim("c")));
}
