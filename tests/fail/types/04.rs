use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: i32) -> i32 {
        exp(x)
    }
}

fn main() {}
