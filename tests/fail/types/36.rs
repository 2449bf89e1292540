use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: u16[4]) -> u16[4] {
        exp(x)
    }
}

fn main() {}
