use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f() -> u64 {
        18446744073709551616
    }
}

fn main() {}
