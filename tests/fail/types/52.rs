use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f16[3]) -> f16[3] {
        x & 1
    }
}

fn main() {}
