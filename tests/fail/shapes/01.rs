use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[2, 3], y: f32[4]) -> f32[2, 3] {
        x + y
    }
}

fn main() {}
