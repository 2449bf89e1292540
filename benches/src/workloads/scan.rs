//! A simulation of a thousand steps: its value, and its gradient by where it begins.

use ndarray::{Array2, Ix2};

use crate::Result;
use crate::call::{Call, into};
use crate::tensor::{Precision, Tensor, array, constant, scalar, uniform};
use crate::workload::{Contender, Gate, Work, Workload};

macro_rules! stamp {
    ($module:ident, $t:ident) => {
        pub mod $module {
            use super::*;

            crate::functions! {
                /// A comet: where it is, and its speed.
                pub struct Comet {
                    x: $t, y: $t, z: $t, u: $t, v: $t, w: $t,
                }

                /// The sum of the squares of all places after a thousand leapfrog steps of ten comets, sixty scalars,
                /// about a sun of unit mass, and its gradient by the start.
                pub fn comets_grad(start: $t[10, 6], dt: $t) -> ($t, $t[10, 6]) {
                    let comets = [
                        comet(start[0]), comet(start[1]), comet(start[2]), comet(start[3]), comet(start[4]),
                        comet(start[5]), comet(start[6]), comet(start[7]), comet(start[8]), comet(start[9]),
                    ];
                    let last = fold(comets, 1000, |comets, _| {
                        let mut next = comets;
                        for i in 0..10 {
                            next[i] = leap(comets[i], dt);
                        }
                        next
                    });
                    let mut total = 0 as $t;
                    for c in last {
                        total = total + c.x * c.x + c.y * c.y + c.z * c.z;
                    }
                    (total, grad(total, start))
                }

                fn comet(s: $t[6]) -> Comet {
                    Comet { x: s[0], y: s[1], z: s[2], u: s[3], v: s[4], w: s[5] }
                }

                fn leap(c: Comet, dt: $t) -> Comet {
                    let c = kick(c, 0.5 * dt);
                    kick(Comet { x: c.x + dt * c.u, y: c.y + dt * c.v, z: c.z + dt * c.w, ..c }, 0.5 * dt)
                }

                fn kick(c: Comet, dt: $t) -> Comet {
                    let square = c.x * c.x + c.y * c.y + c.z * c.z;
                    let pull = dt / (square * sqrt(square));
                    Comet { u: c.u - pull * c.x, v: c.v - pull * c.y, w: c.w - pull * c.z, ..c }
                }
            }

            pub fn ours(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
                let (start, dt) = (array::<$t, Ix2>(&inputs[0])?, scalar::<$t>(&inputs[1])?);
                let outputs = (0.0, Array2::<$t>::zeros(start.dim()));
                into(outputs, move |(total, gradient)| comets_grad::into(&start, dt, total, gradient))
            }
        }
    };
}
stamp!(single, f32);
stamp!(double, f64);

pub fn workloads() -> Vec<Workload> {
    vec![Workload {
        name: "comets_grad".into(),
        function: "comets_grad",
        family: "loops",
        precision: Precision::F32,
        work: Work::Call,
        inputs: vec![uniform(0.5, 1.0, &[10, 6]), constant(1e-3)],
        ours: single::ours,
        exact: double::ours,
        peers: vec![],
        gates: vec![Gate::BestOf(&[Contender::Jax], 20.0)],
    }]
}
