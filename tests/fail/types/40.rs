use tensorjit::tensor_fn;

tensor_fn! {
    const LIMIT: u8 = 256;

    pub fn f(x: u8) -> u8 {
        minimum(x, LIMIT)
    }
}

fn main() {}
