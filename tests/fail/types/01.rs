use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32, k: i32) -> f32 {
        x + k
    }
}

fn main() {}
