use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: u64[3], n: i64) -> bool[3] {
        x < n
    }
}

fn main() {}
