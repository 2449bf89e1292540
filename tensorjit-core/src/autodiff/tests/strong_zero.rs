//! Neither value nor derivative of a branch that is not taken reaches anything: forward, reverse and nested.

use crate::graph::NodeId;
use crate::graph::ops::reduce::ReduceKind;
use crate::graph::sketch::{Sketch, dim};
use crate::graph::table::Ew;

/// An elementwise function, a point, and its first and second derivative there.
struct Case {
    name: &'static str,
    build: fn(&mut Sketch, NodeId) -> NodeId,
    at: f64,
    first: f64,
    second: f64,
}

fn positive(b: &mut Sketch, x: NodeId) -> NodeId {
    let zero = b.number(0.0, x);
    b.ew(Ew::Gt, &[x, zero])
}

const CASES: &[Case] = &[
    Case {
        name: "select of a square root at its end",
        build: |b, x| {
            let (mask, root, zero) = (positive(b, x), b.ew(Ew::Sqrt, &[x]), b.number(0.0, x));
            b.ew(Ew::Select, &[mask, root, zero])
        },
        at: 0.0,
        first: 0.0,
        second: 0.0,
    },
    Case {
        name: "select of a square root outside",
        build: |b, x| {
            let (mask, root, zero) = (positive(b, x), b.ew(Ew::Sqrt, &[x]), b.number(0.0, x));
            b.ew(Ew::Select, &[mask, root, zero])
        },
        at: -1.0,
        first: 0.0,
        second: 0.0,
    },
    Case {
        name: "the branch taken is untouched",
        build: |b, x| {
            let (mask, root, zero) = (positive(b, x), b.ew(Ew::Sqrt, &[x]), b.number(0.0, x));
            b.ew(Ew::Select, &[mask, root, zero])
        },
        at: 4.0,
        first: 0.25,
        second: -0.031_25,
    },
    Case {
        name: "a root of what was selected",
        build: |b, x| {
            let (mask, zero) = (positive(b, x), b.number(0.0, x));
            let kept = b.ew(Ew::Select, &[mask, x, zero]);
            b.ew(Ew::Sqrt, &[kept])
        },
        at: -1.0,
        first: 0.0,
        second: 0.0,
    },
    Case {
        name: "a root of what was selected, selected again",
        build: |b, x| {
            let (mask, zero) = (positive(b, x), b.number(0.0, x));
            let kept = b.ew(Ew::Select, &[mask, x, zero]);
            let root = b.ew(Ew::Sqrt, &[kept]);
            b.ew(Ew::Select, &[mask, root, zero])
        },
        at: 0.0,
        first: 0.0,
        second: 0.0,
    },
    Case {
        name: "maximum with a root",
        build: |b, x| {
            let (root, one) = (b.ew(Ew::Sqrt, &[x]), b.number(1.0, x));
            b.ew(Ew::Maximum, &[root, one])
        },
        at: 0.0,
        first: 0.0,
        second: 0.0,
    },
    Case {
        name: "root of a maximum",
        build: |b, x| {
            let zero = b.number(0.0, x);
            let kept = b.ew(Ew::Maximum, &[x, zero]);
            b.ew(Ew::Sqrt, &[kept])
        },
        at: -1.0,
        first: 0.0,
        second: 0.0,
    },
    Case {
        name: "minimum with a reciprocal",
        build: |b, x| {
            let (inverse, one) = (b.ew(Ew::Recip, &[x]), b.number(1.0, x));
            b.ew(Ew::Minimum, &[inverse, one])
        },
        at: 0.0,
        first: 0.0,
        second: 0.0,
    },
    Case {
        name: "clip of a reciprocal",
        build: |b, x| {
            let (inverse, low, high) = (b.ew(Ew::Recip, &[x]), b.number(-1.0, x), b.number(1.0, x));
            b.ew(Ew::Clip, &[inverse, low, high])
        },
        at: 0.0,
        first: 0.0,
        second: 0.0,
    },
    Case {
        name: "logarithm of a clip",
        build: |b, x| {
            let (low, high) = (b.number(0.0, x), b.number(1.0, x));
            let kept = b.ew(Ew::Clip, &[x, low, high]);
            b.ew(Ew::Log, &[kept])
        },
        at: -2.0,
        first: 0.0,
        second: 0.0,
    },
    Case {
        name: "quotient by what was selected",
        build: |b, x| {
            let (mask, zero) = (positive(b, x), b.number(0.0, x));
            let kept = b.ew(Ew::Select, &[mask, x, zero]);
            let one = b.number(1.0, x);
            let inverse = b.ew(Ew::Div, &[one, kept]);
            b.ew(Ew::Select, &[mask, inverse, zero])
        },
        at: -1.0,
        first: 0.0,
        second: 0.0,
    },
    Case {
        name: "selected numerator over zero",
        build: |b, x| {
            let (mask, zero) = (positive(b, x), b.number(0.0, x));
            let kept = b.ew(Ew::Select, &[mask, x, zero]);
            let held = b.ew(Ew::Sign, &[kept]);
            let quotient = b.ew(Ew::Div, &[kept, held]);
            b.ew(Ew::Select, &[mask, quotient, zero])
        },
        at: -1.0,
        first: 0.0,
        second: 0.0,
    },
];

#[test]
fn elementwise() {
    for case in CASES {
        let mut b = Sketch::new(&[]);
        let (x, v) = (b.variable(&[dim(1)]), b.variable(&[dim(1)]));
        let y = (case.build)(&mut b, x);
        let total = b.total(y);
        let reverse = b.grad(total, x);
        let forward = b.jvp(y, x, v);
        let slope = b.total(reverse);
        let forms = [
            ("reverse", reverse, case.first),
            ("forward", forward, case.first),
            ("forward over reverse", b.jvp(reverse, x, v), case.second),
            ("reverse over reverse", b.grad(slope, x), case.second),
            ("forward over forward", b.jvp(forward, x, v), case.second),
            ("hvp", b.hvp(total, x, v), case.second),
        ];
        for (form, node, expected) in forms {
            assert_eq!(b.at(&[&[case.at], &[1.0]], node), [expected], "{}: {form}", case.name);
        }
    }
}

#[test]
fn through_a_reduction() {
    for kind in [ReduceKind::Max, ReduceKind::Prod, ReduceKind::Sum] {
        let mut b = Sketch::new(&[]);
        let x = b.variable(&[dim(2)]);
        let (mask, zero, root) = (positive(&mut b, x), b.number(0.0, x), b.ew(Ew::Sqrt, &[x]));
        let kept = b.ew(Ew::Select, &[mask, root, zero]);
        let y = b.reduce(kind, kept, &[0]);
        let g = b.grad(y, x);
        let expected = if kind == ReduceKind::Prod { [0.0, 0.0] } else { [0.0, 0.25] };
        assert_eq!(b.at(&[&[0.0, 4.0]], g), expected, "{kind:?}");
    }
}
