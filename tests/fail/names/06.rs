use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f23) -> f32 {
        x
    }
}

fn main() {}
