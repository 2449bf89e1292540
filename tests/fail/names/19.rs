use tensorjit::tensor_fn;

tensor_fn! {
    pub fn g(x: f32) -> f32 { x }
    pub fn g(x: f64) -> f64 { x }
}

fn main() {}
