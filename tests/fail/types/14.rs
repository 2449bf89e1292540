use tensorjit::tensor_fn;

tensor_fn! {
    fn g(x: f64) -> f64 { x }
    pub fn f(x: f32) -> f64 {
        g(x)
    }
}

fn main() {}
