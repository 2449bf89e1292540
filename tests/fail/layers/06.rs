use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<H, G: 1.., N, M: 1..>(q: f32[H, N, 8], k: f32[G, M, 8], v: f32[G, M, 8]) -> f32[H, N, 8] {
        attention(q, k, v)
    }
}

fn main() {}
