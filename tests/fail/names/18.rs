use tensorjit::tensor_fn;

tensor_fn! {
    pub fn g(m: &mut f32) { m = m + 1; }
    pub fn f(x: f32) -> f32 {
        g(x)
    }
}

fn main() {}
