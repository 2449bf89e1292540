use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: bf16[2, 3], w: f16[3, 2]) -> bf16[2, 2] {
        x @ w
    }
}

fn main() {}
