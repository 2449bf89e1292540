use tensorjit::tensor_fn;

tensor_fn! {
    pub fn pooled<K>(x: f32[2, 8], w: f32[K]) -> f32[2, 8 / K] {
        max_pool(x, K)
    }
}

fn main() {}
