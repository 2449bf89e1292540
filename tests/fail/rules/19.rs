use tensorjit::tensor_fn;

tensor_fn! {
    #[jvp(f_jvp)]
    fn f(x: f32) -> f32 { sin(x) }
    fn f_jvp(x: f32, y: f32, dx: f32) -> f32 { cos(x) }

    pub fn g(x: f32) -> f32 { grad(f(x), x) }
}

fn main() {}
