use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32, v: f64) -> f32 {
        hvp(x * x * x, x, v)
    }
}

fn main() {}
