use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: bf16) -> bf16 {
        x - 3.4e38
    }
}

fn main() {}
