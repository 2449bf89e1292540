use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(k: i32) -> i32 {
        grad(k * k, k)
    }
}

fn main() {}
