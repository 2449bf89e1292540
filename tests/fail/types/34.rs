use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: u32, y: u64) -> u64 {
        x * y
    }
}

fn main() {}
