use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<B, N, M>(x: f32[B, N], w: f32[M, N]) -> f32[B, M] {
        x @ w
    }
}

fn main() {}
