use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: float16[3]) -> f32[3] {
        x as f32
    }
}

fn main() {}
