use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N, M: 1..>(q: f32[2, N, 8], k: f32[2, M, 8], v: f32[2, M, 8], m: f32[N, M]) -> f32[2, N, 8] {
        attention(q, k, v, mask = m)
    }
}

fn main() {}
