use tensorjit::tensor_fn;

tensor_fn! {
    #[vjp(f_vjp)]
    fn f(x: f32) -> f32 { x * x }
    fn f_vjp(x: f32, y: f32, cotangent: f32) -> f32 { 2 * x * cotangent + 0 * y }

    pub fn g(x: f32, v: f32) -> f32 { jvp(f(x), x, v) }
}

fn main() {}
