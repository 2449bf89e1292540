//! The workloads as a user of candle writes them; derivatives come from `Var` and `backward`.

use candle_core::{D, Device, Result as Candle, Tensor as CandleTensor, Var};
use candle_nn::ops::{layer_norm_slow, log_softmax, softmax, softmax_last_dim};
use ndarray::{ArrayD, IxDyn};

use crate::Result;
use crate::call::{Call, Make, Outputs, returning};
use crate::tensor::Tensor;

/// A function by its name, where candle can say it.
pub fn make(function: &str) -> Option<Make> {
    let make: Make = match function {
        "linear_step" => |inputs| gradients(inputs, &[2, 3], Value::Kept, linear_loss),
        "product" => |inputs| plain(inputs, |x| x[0].matmul(&x[1])),
        "linear_relu" => |inputs| plain(inputs, |x| linear(&x[0], &x[1], &x[2])?.relu()),
        "mlp_grad" => |inputs| gradients(inputs, &[0, 1, 2, 3, 4, 5], Value::Kept, mlp_loss),
        "bias_gelu" => |inputs| plain(inputs, |x| x[0].broadcast_add(&x[1])?.gelu()),
        "softmax" => |inputs| plain(inputs, |x| softmax_last_dim(&x[0])),
        "row_sums" => |inputs| plain(inputs, |x| x[0].sum(1)),
        "column_sums" => |inputs| plain(inputs, |x| x[0].sum(0)),
        "layer_norm_grad" => |inputs| gradients(inputs, &[0, 1, 2], Value::Dropped, layer_norm_loss),
        "black_scholes" => |inputs| gradients(inputs, &[0, 1, 2, 3, 4], Value::Kept, price),
        "attention_grad" => |inputs| gradients(inputs, &[0, 1, 2], Value::Kept, attention_loss),
        "block_grad" => {
            |inputs| gradients(inputs, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], Value::Kept, block_loss)
        }
        "encoder_grad" => |inputs| gradients(inputs, &ENCODER, Value::Kept, encoder_loss),
        "gather_rows" => |inputs| indexed(inputs, |x, i| x[0].index_select(i, 0)),
        "scatter_rows" => |inputs| indexed(inputs, |x, i| x[0].index_add(i, &x[1], 0)),
        "running_sums" => |inputs| plain(inputs, |x| x[0].cumsum(1)),
        "convolution_grad" => |inputs| gradients(inputs, &[0, 1], Value::Kept, convolution_loss),
        _ => return None,
    };
    Some(make)
}

impl Outputs for CandleTensor {
    fn append_to(&self, tensors: &mut Vec<Tensor>) -> Result<()> {
        let elements = self.flatten_all()?.to_vec1::<f32>()?;
        let elements = elements.into_iter().map(f64::from).collect();
        tensors.push(ArrayD::from_shape_vec(IxDyn(self.dims()), elements)?);
        Ok(())
    }
}

fn convert(tensor: &Tensor) -> Result<CandleTensor> {
    let elements: Vec<f32> = tensor.iter().map(|x| *x as f32).collect();
    Ok(CandleTensor::from_vec(elements, tensor.shape(), &Device::Cpu)?)
}

/// A function without derivatives.
fn plain(inputs: &[Tensor], f: fn(&[CandleTensor]) -> Candle<CandleTensor>) -> Result<Box<dyn Call>> {
    let inputs = inputs.iter().map(convert).collect::<Result<Vec<_>>>()?;
    returning(move || Ok(f(&inputs)?))
}

/// A function without derivatives whose second input is indices.
fn indexed(
    inputs: &[Tensor],
    f: fn(&[CandleTensor], &CandleTensor) -> Candle<CandleTensor>,
) -> Result<Box<dyn Call>> {
    let indices = inputs[1].iter().map(|i| *i as u32).collect::<Vec<_>>();
    let indices = CandleTensor::new(indices, &Device::Cpu)?;
    let others = [&inputs[..1], &inputs[2..]].concat();
    let others = others.iter().map(convert).collect::<Result<Vec<_>>>()?;
    returning(move || Ok(f(&others, &indices)?))
}

/// What becomes of the value that was differentiated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    Kept,
    Dropped,
}

/// The gradients by the inputs at `positions`.
fn gradients(
    inputs: &[Tensor],
    positions: &'static [usize],
    value: Value,
    f: fn(&[CandleTensor]) -> Candle<CandleTensor>,
) -> Result<Box<dyn Call>> {
    let mut inputs = inputs.iter().map(convert).collect::<Result<Vec<_>>>()?;
    for position in positions {
        inputs[*position] = Var::from_tensor(&inputs[*position])?.as_tensor().clone();
    }
    returning(move || {
        let found = f(&inputs)?;
        let gradients = found.backward()?;
        let mut outputs: Vec<CandleTensor> = if value == Value::Kept { vec![found] } else { Vec::new() };
        for position in positions {
            let gradient = gradients.get(&inputs[*position]).ok_or("a gradient is missing")?;
            outputs.push(gradient.clone());
        }
        Ok(outputs)
    })
}

fn linear(x: &CandleTensor, w: &CandleTensor, b: &CandleTensor) -> Candle<CandleTensor> {
    x.matmul(w)?.broadcast_add(b)
}

fn linear_loss(x: &[CandleTensor]) -> Candle<CandleTensor> {
    let error = (linear(&x[0], &x[2], &x[3])? - &x[1])?;
    error.sqr()?.sum_all()?.mul(&x[4])
}

fn mlp_loss(p: &[CandleTensor]) -> Candle<CandleTensor> {
    let (x, y) = (&p[6], &p[7]);
    let h = linear(x, &p[0], &p[1])?.relu()?;
    let h = linear(&h, &p[2], &p[3])?.relu()?;
    let z = log_softmax(&linear(&h, &p[4], &p[5])?, D::Minus1)?;
    (z * y)?.sum_all()?.affine(-1.0 / x.dim(0)? as f64, 0.0)
}

fn layer_norm_loss(x: &[CandleTensor]) -> Candle<CandleTensor> {
    (layer_norm_slow(&x[0], &x[1], &x[2], 1e-5)? * &x[3])?.sum_all()
}

fn price(x: &[CandleTensor]) -> Candle<CandleTensor> {
    let [s, k, t, r, v] = x else { candle_core::bail!("five inputs are needed") };
    let spread = (v * t.sqrt()?)?;
    let growth = ((r + (v.sqr()? * 0.5)?)? * t)?;
    let d1 = (((s / k)?.log()? + growth)? / &spread)?;
    let d2 = (&d1 - &spread)?;
    let discounted = (k * (r * t)?.neg()?.exp()?)?;
    (s * normal_cdf(&d1)?)? - (discounted * normal_cdf(&d2)?)?
}

fn normal_cdf(x: &CandleTensor) -> Candle<CandleTensor> {
    (x * std::f64::consts::FRAC_1_SQRT_2)?.erf()?.affine(0.5, 0.5)
}

fn attend(q: &CandleTensor, k: &CandleTensor, v: &CandleTensor) -> Candle<CandleTensor> {
    let scores = (q.matmul(&k.transpose(2, 3)?)? * 0.125)?;
    softmax(&scores, D::Minus1)?.matmul(v)
}

fn attention_loss(x: &[CandleTensor]) -> Candle<CandleTensor> {
    (attend(&x[0], &x[1], &x[2])? * &x[3])?.sum_all()
}

fn block_loss(p: &[CandleTensor]) -> Candle<CandleTensor> {
    let (parameters, data) = p.split_at(12);
    (layer(parameters, &data[0])? * &data[1])?.sum_all()
}

/// The positions of the parameters of six layers.
const ENCODER: [usize; 72] = {
    let mut positions = [0; 72];
    let mut i = 0;
    while i < positions.len() {
        positions[i] = i;
        i += 1;
    }
    positions
};

fn encoder_loss(p: &[CandleTensor]) -> Candle<CandleTensor> {
    let (parameters, data) = p.split_at(ENCODER.len());
    let y = parameters.chunks(12).try_fold(data[0].clone(), |x, parameters| layer(parameters, &x))?;
    (y * &data[1])?.sum_all()
}

/// A layer of a transformer, by its twelve parameters.
fn layer(p: &[CandleTensor], x: &CandleTensor) -> Candle<CandleTensor> {
    let [g1, c1, wq, wk, wv, wo, g2, c2, w1, b1, w2, b2] = p else {
        candle_core::bail!("twelve parameters are needed")
    };
    let (batch, time, width) = x.dims3()?;
    let heads = |h: CandleTensor| h.reshape((batch, time, 6, width / 6))?.transpose(1, 2)?.contiguous();
    let h = layer_norm_slow(x, g1, c1, 1e-5)?;
    let project = |w| heads(h.broadcast_matmul(w)?);
    let attended = attend(&project(wq)?, &project(wk)?, &project(wv)?)?;
    let attended = attended.transpose(1, 2)?.reshape((batch, time, width))?;
    let x = (x + attended.broadcast_matmul(wo)?)?;
    let h = layer_norm_slow(&x, g2, c2, 1e-5)?.broadcast_matmul(w1)?.broadcast_add(b1)?.gelu()?;
    x + h.broadcast_matmul(w2)?.broadcast_add(b2)?
}

fn convolution_loss(x: &[CandleTensor]) -> Candle<CandleTensor> {
    (x[1].conv2d(&x[0], 1, 1, 1, 1)?.relu()? * &x[2])?.sum_all()
}
