use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f() -> u16 {
        70000u16
    }
}

fn main() {}
