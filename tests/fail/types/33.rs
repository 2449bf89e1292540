use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: u8[3], y: i8[3]) -> u8[3] {
        x + y
    }
}

fn main() {}
