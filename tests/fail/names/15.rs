use tensorjit::tensor_fn;

tensor_fn! {
    fn g(m: &mut f32) { m = m + 1; }
    pub fn f(x: f32) -> f32 { x }
}

fn main() {}
