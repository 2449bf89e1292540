use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(k: u8) -> u8 {
        let y = k * k;
        grad(y, k)
    }
}

fn main() {}
