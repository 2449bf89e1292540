use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f16[3], y: f32[3]) -> f32[3] {
        x + y
    }
}

fn main() {}
