use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N, M>(x: f32[N], y: f32[M]) -> f32 {
        fold(0f32, (x, y), |s, (a, b)| s + a * b)
    }
}

fn main() {}
