use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(x: f32[N], k: i64) -> f32[N] {
        x[..k]
    }
}

fn main() {}
