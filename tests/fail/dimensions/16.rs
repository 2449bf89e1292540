use tensorjit::tensor_fn;

tensor_fn! {
    fn large<N: 8..>(x: f32[N]) -> f32[N] { x }
    pub fn f(x: f32[4]) -> f32[4] {
        large(x)
    }
}

fn main() {}
