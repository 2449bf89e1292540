use tensorjit::tensor_fn;

tensor_fn! {
    fn g<T: float>(a: T, b: T) -> T { a * b }
    pub fn f(a: f32, b: f64) -> f64 {
        g(a, b)
    }
}

fn main() {}
