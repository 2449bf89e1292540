use tensorjit::tensor_fn;

tensor_fn! {
    #[jvp(f_jvp)]
    fn f(x: f32) -> f32 { abs(x) }
    fn f_jvp(x: f32, y: f32, dx: f32) -> f32 { select(dx > 0, dx, 0 * x * y) }

    pub fn g(x: f32) -> f32 { f(x) }
}

fn main() {}
