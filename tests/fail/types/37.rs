use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: u7[3]) -> f32 {
        sum(x as f32)
    }
}

fn main() {}
