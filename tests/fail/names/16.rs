use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32, scale: f32 = 2.0) -> f32 {
        x * scale
    }
}

fn main() {}
