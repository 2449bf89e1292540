use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: bf16[3]) -> bf16[3] {
        x + 1u8
    }
}

fn main() {}
