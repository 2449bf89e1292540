use tensorjit::tensor_fn;

tensor_fn! {
    fn g(x: f32) -> f32 { x }
    fn g(x: f32) -> f32 { x + 1 }
    pub fn f(x: f32) -> f32 { g(x) }
}

fn main() {}
