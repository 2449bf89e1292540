use tensorjit::tensor_fn;

tensor_fn! {
    #[vjp(f_vjp)]
    fn f<N>(x: f32[N]) -> f32 { sum(x * x) }
    fn f_vjp<N>(x: f32[N], y: f32, cotangent: f32) -> f32[N] { 2 * cotangent * x }

    pub fn g<N>(x: f32[N]) -> f32[N, N] { hessian(square(f(x)), x) }
}

fn main() {}
