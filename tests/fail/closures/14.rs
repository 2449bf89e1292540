use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(x: f32[N]) -> f32 {
        fold(0f32, N - 1, |s, i| s + x[i])
    }
}

fn main() {}
