use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[2, 3]) -> f32 {
        x[0, 1, 2]
    }
}

fn main() {}
