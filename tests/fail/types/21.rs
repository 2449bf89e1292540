use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(n: usize) -> f32 {
        1
    }
}

fn main() {}
