//! What is measured: a workload is a row of data.

use serde::{Deserialize, Serialize};

use crate::call::Make;
use crate::tensor::{Input, Precision};

/// Who computes a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Contender {
    Tensorjit,
    Ndarray,
    Gemm,
    Candle,
    Burn,
    NumPy,
    Jax,
    Torch,
    Inductor,
}

impl Contender {
    /// Ours, then the peers, in the order of the table's columns.
    pub const ALL: [Contender; 9] = [
        Contender::Tensorjit,
        Contender::Ndarray,
        Contender::Gemm,
        Contender::Candle,
        Contender::Burn,
        Contender::NumPy,
        Contender::Jax,
        Contender::Torch,
        Contender::Inductor,
    ];

    /// The peers that run in the Python process.
    pub const PYTHON: [Contender; 4] =
        [Contender::NumPy, Contender::Jax, Contender::Torch, Contender::Inductor];

    /// The name in tables and in the protocol.
    pub const fn name(self) -> &'static str {
        match self {
            Contender::Tensorjit => "tensorjit",
            Contender::Ndarray => "ndarray",
            Contender::Gemm => "gemm",
            Contender::Candle => "candle",
            Contender::Burn => "burn",
            Contender::NumPy => "numpy",
            Contender::Jax => "jax",
            Contender::Torch => "torch",
            Contender::Inductor => "inductor",
        }
    }
}

/// The work of a call, which turns times into rates.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Work {
    /// Floating-point operations, compared with the FMA peak.
    Flops(f64),
    /// Bytes that must be read or written, compared with the bandwidth of memory.
    Bytes(f64),
    /// Calls only.
    Call,
}

/// What must hold of a workload's time on one thread.
#[derive(Clone, Copy, Debug)]
pub enum Gate {
    /// At least so many times as fast as the best peer.
    Best(f64),
    /// At least so many times as fast as the best of these.
    BestOf(&'static [Contender], f64),
    /// At least this part of the FMA peak.
    Peak(f64),
}

/// One workload.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Unique, and what `--only` selects by its beginning.
    pub name: String,
    /// The function in `peers.py`, which serves every size.
    pub function: &'static str,
    /// The family it is drawn with.
    pub family: &'static str,
    pub precision: Precision,
    pub work: Work,
    pub inputs: Vec<Input>,
    /// Ours, in the precision of the workload.
    pub ours: Make,
    /// What is more exact than the workload: ours in double precision, the oracle where there is none of others, and
    /// for a workload in double precision something else.
    pub exact: Make,
    /// The peers of this process that can express it.
    pub peers: Vec<(Contender, Make)>,
    pub gates: Vec<Gate>,
}

/// The peers that say which functions they have, in single precision.
type Others = [(Contender, fn(&str) -> Option<Make>)];
const OTHERS: &Others = &[
    #[cfg(feature = "candle")]
    (Contender::Candle, crate::candle::make),
    #[cfg(feature = "burn")]
    (Contender::Burn, crate::burn::make),
];

/// All workloads, in the order of the table.
pub fn all() -> Vec<Workload> {
    use crate::workloads::{attention, block, convolution, encoder, finance, layers, linear, network};
    use crate::workloads::{places, products, rows, scan};
    let mut workloads = [
        linear::workloads(),
        products::workloads(),
        layers::workloads(),
        network::workloads(),
        rows::workloads(),
        finance::workloads(),
        attention::workloads(),
        block::workloads(),
        encoder::workloads(),
        convolution::workloads(),
        scan::workloads(),
        places::workloads(),
    ]
    .concat();
    for workload in &mut workloads {
        if workload.precision == Precision::F32 {
            let others = OTHERS.iter().filter_map(|(peer, make)| Some((*peer, make(workload.function)?)));
            workload.peers.extend(others);
        }
    }
    workloads
}

/// Declares tensor functions, and keeps their text.
#[macro_export]
macro_rules! functions {
    ($($tokens:tt)*) => {
        tensorjit::tensor_fn! { $($tokens)* }
        /// What was compiled.
        pub const TEXT: &str = stringify!($($tokens)*);
    };
}
