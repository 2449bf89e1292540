use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(a: f32[2], b: f32[3]) -> f32[2, 2] {
        stack([a, b])
    }
}

fn main() {}
