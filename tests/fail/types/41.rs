use tensorjit::tensor_fn;

tensor_fn! {
    fn half<T: float, N>(x: T[N]) -> T[N] {
        0.5 * x
    }

    pub fn f(x: u8[3]) -> u8[3] {
        half(x)
    }
}

fn main() {}
