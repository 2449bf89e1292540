use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(x: f32[N, 5], cosine: f32[N, 2], sine: f32[N, 2]) -> f32[N, 5] {
        rotary(x, cosine, sine)
    }
}

fn main() {}
