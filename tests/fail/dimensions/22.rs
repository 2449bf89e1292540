use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<T, K: 0..=0, M>(x: f32[T], k: f32[K], m: f32[M, T / M]) -> f32 where T / K > 1 {
        sum(x) + sum(k) + sum(m)
    }
}

fn main() {}
