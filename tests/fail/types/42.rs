use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: u8[3]) -> i16 {
        sum(x)
    }
}

fn main() {}
