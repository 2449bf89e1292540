use tensorjit::tensor_fn;

tensor_fn! {
    fn g<N>(k: f32) -> f32[N] { zeros([N]) }
    pub fn f(x: f32) -> f32[3] {
        g(x)
    }
}

fn main() {}
