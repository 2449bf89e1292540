//! Nodes that only autodiff needs apart.

use super::Rule;
use crate::graph::Op;

/// The rules of this family.
pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "variable",
        equation: "variable(x) = x",
        apply: |_, op, inputs| Ok(if matches!(op, Op::Variable(_)) { inputs.first().copied() } else { None }),
    },
    Rule {
        name: "stop_gradient",
        equation: "stop_gradient(x) = stop_gradient(x, instead) = x",
        apply: |_, op, inputs| {
            Ok(if matches!(op, Op::StopGradient) { inputs.first().copied() } else { None })
        },
    },
];
