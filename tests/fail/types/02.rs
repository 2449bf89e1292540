use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32, y: f64) -> f64 {
        x * y
    }
}

fn main() {}
