use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f() -> u8 {
        1.5u8
    }
}

fn main() {}
