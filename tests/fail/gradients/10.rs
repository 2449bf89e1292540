use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[3], v: f32[3]) -> f32[3] {
        hvp(exp(x), x, v)
    }
}

fn main() {}
