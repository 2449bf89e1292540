use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N, M: 1..>(q: f32[2, N, 8], k: f32[2, M, 4], v: f32[2, M, 4]) -> f32[2, N, 4] {
        attention(q, k, v)
    }
}

fn main() {}
