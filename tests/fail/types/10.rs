use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(b: bool[3]) -> i64 {
        sum(b)
    }
}

fn main() {}
