use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[3]) -> f32 {
        var(x, correction = 0.5)
    }
}

fn main() {}
