use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[3], v: f32[2]) -> f32[3] {
        vjp(exp(x), x, v)
    }
}

fn main() {}
