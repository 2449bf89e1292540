//! Elementary functions: the price of a million options and its five derivatives.

use ndarray::{Array1, Ix1};

use crate::Result;
use crate::call::{Call, into};
use crate::tensor::{Precision, Tensor, array, uniform};
use crate::workload::{Gate, Work, Workload};

macro_rules! stamp {
    ($module:ident, $t:ident) => {
        pub mod $module {
            use super::*;

            crate::functions! {
                /// The price of European calls by Black and Scholes, and its derivatives by spot, strike, time,
                /// rate and volatility.
                pub fn black_scholes<N>(
                    s: $t[N], k: $t[N], t: $t[N], r: $t[N], v: $t[N],
                ) -> ($t[N], $t[N], $t[N], $t[N], $t[N], $t[N]) {
                    let spread = v * sqrt(t);
                    let d1 = (log(s / k) + (r + 0.5 * v * v) * t) / spread;
                    let d2 = d1 - spread;
                    let price = s * normal_cdf(d1) - k * exp(-r * t) * normal_cdf(d2);
                    let (ds, dk, dt, dr, dv) = grad(sum(price), (s, k, t, r, v));
                    (price, ds, dk, dt, dr, dv)
                }

                fn normal_cdf<N>(x: $t[N]) -> $t[N] {
                    0.5 * (1.0 + erf(x * 0.7071067811865476))
                }
            }

            pub fn ours(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
                let vector = |i: usize| array::<$t, Ix1>(&inputs[i]);
                let (s, k, t, r, v) = (vector(0)?, vector(1)?, vector(2)?, vector(3)?, vector(4)?);
                let zeros = || Array1::<$t>::zeros(s.len());
                let outputs = (zeros(), zeros(), zeros(), zeros(), zeros(), zeros());
                into(outputs, move |(price, ds, dk, dt, dr, dv)| {
                    black_scholes::into(&s, &k, &t, &r, &v, price, ds, dk, dt, dr, dv)
                })
            }
        }
    };
}
stamp!(single, f32);
stamp!(double, f64);

pub fn workloads() -> Vec<Workload> {
    let n = 1 << 20;
    vec![Workload {
        name: "black_scholes".into(),
        function: "black_scholes",
        family: "elementary functions",
        precision: Precision::F32,
        work: Work::Bytes((11 * n * 4) as f64),
        inputs: vec![
            uniform(50.0, 150.0, &[n]),
            uniform(50.0, 150.0, &[n]),
            uniform(0.1, 2.0, &[n]),
            uniform(0.0, 0.1, &[n]),
            uniform(0.1, 0.5, &[n]),
        ],
        ours: single::ours,
        exact: double::ours,
        peers: vec![],
        gates: vec![Gate::Best(2.0)],
    }]
}
