//! An encoder of six layers: the gradients of all its parameters.

use crate::Result;
use crate::call::{Call, Outputs, into};
use crate::tensor::{Precision, Tensor, array};
use crate::workload::{Contender, Gate, Work, Workload};
use crate::workloads::block;

macro_rules! stamp {
    ($module:ident, $t:ident) => {
        pub mod $module {
            use ndarray::Ix3;

            use super::*;

            crate::functions! {
                /// The parameters of a layer.
                pub struct Layer {
                    g1: $t[384], c1: $t[384], wq: $t[384, 384], wk: $t[384, 384], wv: $t[384, 384],
                    wo: $t[384, 384], g2: $t[384], c2: $t[384], w1: $t[384, 1536], b1: $t[1536],
                    w2: $t[1536, 384], b2: $t[384],
                }

                /// The sum of the encoder's result times `d`, and the gradients of its parameters.
                pub fn encoder_grad<B, T: 1..>(
                    layers: [Layer; 6], x: $t[B, T, 384], d: $t[B, T, 384],
                ) -> ($t, [Layer; 6]) {
                    let mut x = x;
                    for layer in layers {
                        let h = layer_norm(x, layer.g1, layer.c1);
                        let (q, k, v) = (heads(h @ layer.wq), heads(h @ layer.wk), heads(h @ layer.wv));
                        let scores = q @ transpose(k, (0, 1, 3, 2)) * 0.125;
                        let attended = permute(softmax(scores) @ v, (0, 2, 1, 3));
                        x = x + reshape(attended, [B, T, 384]) @ layer.wo;
                        let h = layer_norm(x, layer.g2, layer.c2) @ layer.w1 + layer.b1;
                        x = x + gelu(h, approximate = "tanh") @ layer.w2 + layer.b2;
                    }
                    let loss = sum(x * d);
                    (loss, grad(loss, layers))
                }

                fn heads<B, T>(x: $t[B, T, 384]) -> $t[B, 6, T, 64] {
                    permute(reshape(x, [B, T, 6, 64]), (0, 2, 1, 3))
                }
            }

            impl Outputs for [Layer; 6] {
                fn append_to(&self, tensors: &mut Vec<Tensor>) -> Result<()> {
                    for layer in self {
                        let Layer { g1, c1, wq, wk, wv, wo, g2, c2, w1, b1, w2, b2 } = layer;
                        [g1, c1].into_iter().try_for_each(|leaf| leaf.append_to(tensors))?;
                        [wq, wk, wv, wo].into_iter().try_for_each(|leaf| leaf.append_to(tensors))?;
                        [g2, c2].into_iter().try_for_each(|leaf| leaf.append_to(tensors))?;
                        (w1.append_to(tensors)?, b1.append_to(tensors)?);
                        (w2.append_to(tensors)?, b2.append_to(tensors)?);
                    }
                    Ok(())
                }
            }

            fn layer(inputs: &[Tensor]) -> Result<Layer> {
                Ok(Layer {
                    g1: array(&inputs[0])?,
                    c1: array(&inputs[1])?,
                    wq: array(&inputs[2])?,
                    wk: array(&inputs[3])?,
                    wv: array(&inputs[4])?,
                    wo: array(&inputs[5])?,
                    g2: array(&inputs[6])?,
                    c2: array(&inputs[7])?,
                    w1: array(&inputs[8])?,
                    b1: array(&inputs[9])?,
                    w2: array(&inputs[10])?,
                    b2: array(&inputs[11])?,
                })
            }

            pub fn ours(inputs: &[Tensor]) -> Result<Box<dyn Call>> {
                let layers =
                    inputs[..LAYERS * LEAVES].chunks(LEAVES).map(layer).collect::<Result<Vec<_>>>()?;
                let layers: [Layer; LAYERS] = layers.try_into().map_err(|_| "a layer is missing")?;
                let [x, d] = [0, 1].map(|i| array::<$t, Ix3>(&inputs[LAYERS * LEAVES + i]));
                let (x, d) = (x?, d?);
                let outputs = (0.0, std::array::from_fn(|_| Layer::zeros()));
                into(outputs, move |(loss, gradients)| encoder_grad::into(&layers, &x, &d, loss, gradients))
            }
        }
    };
}
stamp!(single, f32);
stamp!(double, f64);

const LAYERS: usize = 6;
/// The parameters of a layer.
const LEAVES: usize = 12;

pub fn workloads() -> Vec<Workload> {
    let (batch, time, width) = (8, 97, 384);
    // Each product three times: forward, and for both operands.
    let flops = LAYERS * 6 * batch * time * (12 * width * width + 2 * time * width);
    vec![Workload {
        name: "encoder_grad".into(),
        function: "encoder_grad",
        family: "attention",
        precision: Precision::F32,
        work: Work::Flops(flops as f64),
        inputs: [vec![block::parameters(); LAYERS].concat(), block::data(batch, time)].concat(),
        ours: single::ours,
        exact: double::ours,
        peers: vec![],
        gates: vec![Gate::BestOf(&[Contender::Torch, Contender::Candle], 1.2)],
    }]
}
