use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[1, 1, 1, 1, 1, 1, 1]) -> f32 {
        sum(x)
    }
}

fn main() {}
