use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[3]) -> bool {
        any(x)
    }
}

fn main() {}
