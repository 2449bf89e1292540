use tensorjit::tensor_fn;

tensor_fn! {
    fn halves<N>(x: f32[2 * N]) -> f32[N] { x[..N] }
    pub fn f(x: f32[7]) -> f32[3] {
        halves(x)
    }
}

fn main() {}
