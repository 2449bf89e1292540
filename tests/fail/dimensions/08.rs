use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[4]) -> f32[3] {
        x[2..5]
    }
}

fn main() {}
