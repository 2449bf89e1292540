//! The workloads as a user of burn writes them, on its backend Flex; derivatives come from its autodiff.

use burn_tensor::activation::{gelu_approximate, log_softmax, relu, softmax};
use burn_tensor::module::{conv2d, layer_norm};
use burn_tensor::ops::ConvOptions;
use burn_tensor::{Device, Gradients, Tensor as BurnTensor, TensorData};
use ndarray::{ArrayD, IxDyn};

use crate::Result;
use crate::call::{Call, Make, Outputs, returning};
use crate::tensor::Tensor;

/// A function by its name, where burn can say it.
pub fn make(function: &str) -> Option<Make> {
    let make: Make = match function {
        "linear_step" => linear_step,
        "product" => product,
        "linear_relu" => linear_relu,
        "mlp_grad" => mlp_grad,
        "bias_gelu" => bias_gelu,
        "softmax" => softmax_rows,
        "row_sums" => row_sums,
        "column_sums" => column_sums,
        "layer_norm_grad" => layer_norm_grad,
        "black_scholes" => black_scholes,
        "attention_grad" => attention_grad,
        "block_grad" => block_grad,
        "convolution_grad" => convolution_grad,
        _ => return None,
    };
    Some(make)
}

impl<const D: usize> Outputs for BurnTensor<D> {
    fn append_to(&self, tensors: &mut Vec<Tensor>) -> Result<()> {
        let data = self.to_data();
        let elements = data.try_to_vec::<f32>().map_err(|error| format!("{error:?}"))?;
        let elements = elements.into_iter().map(f64::from).collect();
        tensors.push(ArrayD::from_shape_vec(IxDyn(&self.dims()), elements)?);
        Ok(())
    }
}

/// What burn has no rank for: a scalar, which it keeps as a vector of one element.
struct Scalar(BurnTensor<1>);

impl Outputs for Scalar {
    fn append_to(&self, tensors: &mut Vec<Tensor>) -> Result<()> {
        tensors.push(ndarray::arr0(f64::from(self.0.clone().into_scalar::<f32>())).into_dyn());
        Ok(())
    }
}

fn convert<const D: usize>(tensor: &Tensor, device: &Device) -> BurnTensor<D> {
    let elements: Vec<f32> = tensor.iter().map(|x| *x as f32).collect();
    BurnTensor::from_data(TensorData::new(elements, tensor.shape()), device)
}

/// An input without derivatives.
fn input<const D: usize>(tensor: &Tensor) -> BurnTensor<D> {
    convert(tensor, &Device::flex())
}

/// An input of a differentiated function that is not differentiated by.
fn data<const D: usize>(tensor: &Tensor) -> BurnTensor<D> {
    convert(tensor, &Device::flex().autodiff())
}

/// An input to differentiate by.
fn leaf<const D: usize>(tensor: &Tensor) -> BurnTensor<D> {
    data(tensor).require_grad()
}

fn gradient<const D: usize>(gradients: &Gradients, leaf: &BurnTensor<D>) -> Result<BurnTensor<D>> {
    leaf.grad(gradients).ok_or_else(|| "a gradient is missing".into())
}

fn linear(x: BurnTensor<2>, w: &BurnTensor<2>, b: &BurnTensor<1>) -> BurnTensor<2> {
    x.matmul(w.clone()) + b.clone().unsqueeze()
}

fn linear_step(x: &[Tensor]) -> Result<Box<dyn Call>> {
    let scale = x[4].sum() as f32;
    let (x, y, w, bias) = (data::<2>(&x[0]), data::<2>(&x[1]), leaf::<2>(&x[2]), leaf::<1>(&x[3]));
    returning(move || {
        let error = linear(x.clone(), &w, &bias) - y.clone();
        let loss = (error.clone() * error).sum() * scale;
        let gradients = loss.backward();
        Ok((Scalar(loss), gradient(&gradients, &w)?, gradient(&gradients, &bias)?))
    })
}

fn product(x: &[Tensor]) -> Result<Box<dyn Call>> {
    let (a, b) = (input::<2>(&x[0]), input::<2>(&x[1]));
    returning(move || Ok(a.clone().matmul(b.clone())))
}

fn linear_relu(x: &[Tensor]) -> Result<Box<dyn Call>> {
    let (x, w, b) = (input::<2>(&x[0]), input::<2>(&x[1]), input::<1>(&x[2]));
    returning(move || Ok(relu(linear(x.clone(), &w, &b))))
}

fn mlp_grad(x: &[Tensor]) -> Result<Box<dyn Call>> {
    let (w1, w2, w3) = (leaf::<2>(&x[0]), leaf::<2>(&x[2]), leaf::<2>(&x[4]));
    let (b1, b2, b3) = (leaf::<1>(&x[1]), leaf::<1>(&x[3]), leaf::<1>(&x[5]));
    let (x, y) = (data::<2>(&x[6]), data::<2>(&x[7]));
    let batch = x.dims()[0] as f32;
    returning(move || {
        let h = relu(linear(x.clone(), &w1, &b1));
        let h = relu(linear(h, &w2, &b2));
        let z = log_softmax(linear(h, &w3, &b3), 1);
        let loss = -(z * y.clone()).sum() / batch;
        let g = loss.backward();
        let first = (gradient(&g, &w1)?, gradient(&g, &b1)?);
        let rest = (gradient(&g, &w2)?, gradient(&g, &b2)?, gradient(&g, &w3)?, gradient(&g, &b3)?);
        Ok((Scalar(loss), first, rest))
    })
}

fn bias_gelu(x: &[Tensor]) -> Result<Box<dyn Call>> {
    let (x, b) = (input::<2>(&x[0]), input::<1>(&x[1]));
    returning(move || Ok(gelu_approximate(x.clone() + b.clone().unsqueeze())))
}

fn softmax_rows(x: &[Tensor]) -> Result<Box<dyn Call>> {
    let x = input::<2>(&x[0]);
    returning(move || Ok(softmax(x.clone(), 1)))
}

fn row_sums(x: &[Tensor]) -> Result<Box<dyn Call>> {
    let x = input::<2>(&x[0]);
    returning(move || Ok(x.clone().sum_dim(1).squeeze::<1>()))
}

fn column_sums(x: &[Tensor]) -> Result<Box<dyn Call>> {
    let x = input::<2>(&x[0]);
    returning(move || Ok(x.clone().sum_dim(0).squeeze::<1>()))
}

fn layer_norm_grad(x: &[Tensor]) -> Result<Box<dyn Call>> {
    let (gain, bias) = (leaf::<1>(&x[1]), leaf::<1>(&x[2]));
    let (d, x) = (data::<2>(&x[3]), leaf::<2>(&x[0]));
    returning(move || {
        let y = layer_norm(x.clone(), gain.clone(), Some(bias.clone()), 1e-5);
        let g = (y * d.clone()).sum().backward();
        Ok((gradient(&g, &x)?, gradient(&g, &gain)?, gradient(&g, &bias)?))
    })
}

fn normal_cdf(x: BurnTensor<1>) -> BurnTensor<1> {
    ((x * std::f32::consts::FRAC_1_SQRT_2).erf() + 1.0) * 0.5
}

fn black_scholes(x: &[Tensor]) -> Result<Box<dyn Call>> {
    let (s, k, t) = (leaf::<1>(&x[0]), leaf::<1>(&x[1]), leaf::<1>(&x[2]));
    let (r, v) = (leaf::<1>(&x[3]), leaf::<1>(&x[4]));
    returning(move || {
        let spread = v.clone() * t.clone().sqrt();
        let growth = (r.clone() + v.clone() * v.clone() * 0.5) * t.clone();
        let d1 = ((s.clone() / k.clone()).log() + growth) / spread.clone();
        let d2 = d1.clone() - spread;
        let discounted = k.clone() * (-(r.clone() * t.clone())).exp();
        let price = s.clone() * normal_cdf(d1) - discounted * normal_cdf(d2);
        let g = price.clone().sum().backward();
        let greeks = (gradient(&g, &s)?, gradient(&g, &k)?, gradient(&g, &t)?);
        Ok((price, greeks, (gradient(&g, &r)?, gradient(&g, &v)?)))
    })
}

fn attend(q: BurnTensor<4>, k: BurnTensor<4>, v: BurnTensor<4>) -> BurnTensor<4> {
    softmax(q.matmul(k.swap_dims(2, 3)) * 0.125, 3).matmul(v)
}

fn attention_grad(x: &[Tensor]) -> Result<Box<dyn Call>> {
    let (q, k, v, d) = (leaf::<4>(&x[0]), leaf::<4>(&x[1]), leaf::<4>(&x[2]), data::<4>(&x[3]));
    returning(move || {
        let loss = (attend(q.clone(), k.clone(), v.clone()) * d.clone()).sum();
        let g = loss.backward();
        Ok((Scalar(loss), gradient(&g, &q)?, gradient(&g, &k)?, gradient(&g, &v)?))
    })
}

fn block_grad(p: &[Tensor]) -> Result<Box<dyn Call>> {
    let vector = |i: usize| leaf::<1>(&p[i]);
    let matrix = |i: usize| leaf::<2>(&p[i]);
    let (g1, c1, g2, c2, b1, b2) = (vector(0), vector(1), vector(6), vector(7), vector(9), vector(11));
    let (wq, wk, wv, wo) = (matrix(2), matrix(3), matrix(4), matrix(5));
    let (w1, w2) = (matrix(8), matrix(10));
    let (x, d) = (data::<3>(&p[12]), data::<3>(&p[13]));
    let [batch, time, width] = x.dims();
    let heads = move |h: BurnTensor<3>| h.reshape([batch, time, 6, width / 6]).swap_dims(1, 2);
    returning(move || {
        let h = layer_norm(x.clone(), g1.clone(), Some(c1.clone()), 1e-5);
        let project = |w: &BurnTensor<2>| heads(h.clone().matmul(w.clone().unsqueeze()));
        let attended = attend(project(&wq), project(&wk), project(&wv));
        let attended = attended.swap_dims(1, 2).reshape([batch, time, width]);
        let x = x.clone() + attended.matmul(wo.clone().unsqueeze());
        let h = layer_norm(x.clone(), g2.clone(), Some(c2.clone()), 1e-5).matmul(w1.clone().unsqueeze());
        let h = gelu_approximate(h + b1.clone().unsqueeze()).matmul(w2.clone().unsqueeze());
        let loss = ((x + h + b2.clone().unsqueeze()) * d.clone()).sum();
        let g = loss.backward();
        let norms = (gradient(&g, &g1)?, gradient(&g, &c1)?);
        let later_norms = (gradient(&g, &g2)?, gradient(&g, &c2)?);
        let queries = (gradient(&g, &wq)?, gradient(&g, &wk)?, gradient(&g, &wv)?, gradient(&g, &wo)?);
        let wide = (gradient(&g, &w1)?, gradient(&g, &b1)?, gradient(&g, &w2)?, gradient(&g, &b2)?);
        Ok((Scalar(loss), norms, queries, later_norms, wide))
    })
}

fn convolution_grad(x: &[Tensor]) -> Result<Box<dyn Call>> {
    let (w, d) = (leaf::<4>(&x[0]), data::<4>(&x[2]));
    let x = leaf::<4>(&x[1]);
    returning(move || {
        let options = ConvOptions::new([1, 1], [1, 1], [1, 1], 1);
        let y = conv2d(x.clone(), w.clone(), None, options);
        let loss = (relu(y) * d.clone()).sum();
        let g = loss.backward();
        Ok((Scalar(loss), gradient(&g, &w)?, gradient(&g, &x)?))
    })
}
