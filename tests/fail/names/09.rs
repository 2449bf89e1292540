use tensorjit::tensor_fn;

tensor_fn! {
    fn g(x: f32) -> f32 { h(x) }
    fn h(x: f32) -> f32 { g(x) }
    pub fn f(x: f32) -> f32 { x }
}

fn main() {}
