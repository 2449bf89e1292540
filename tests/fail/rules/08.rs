use tensorjit::tensor_fn;

tensor_fn! {
    #[vjp(f_vjp)]
    fn f(x: f32) -> f32 { x * x }
    fn f_vjp(x: f32, y: f32, cotangent: f32) -> f32 { cotangent * f(x) / y }

    pub fn g(x: f32) -> f32 { grad(f(x), x) }
}

fn main() {}
