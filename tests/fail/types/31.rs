use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: u8[3]) -> u8[3] {
        x * -1
    }
}

fn main() {}
