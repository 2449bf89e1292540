use tensorjit::tensor_fn;

tensor_fn! {
    #[vjp(f_vjp)]
    fn f<N>(x: f32[N], w: f32[N]) -> f32 { sum(x * w) }
    fn f_vjp<N>(x: f32[N], w: f32[N], y: f32, cotangent: f32) -> f32[N] { cotangent * w + 0 * y }

    pub fn g<N>(x: f32[N], w: f32[N]) -> f32[N] { grad(f(x, w), x) }
}

fn main() {}
