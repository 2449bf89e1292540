use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[2]) -> f32[2] {
        x * 1e39
    }
}

fn main() {}
