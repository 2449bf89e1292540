use tensorjit::tensor_fn;

tensor_fn! {
    pub fn counts(x: i64[8]) -> i64[4] {
        avg_pool(x, 2)
    }
}

fn main() {}
