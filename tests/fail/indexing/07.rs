use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N, K>(x: f32[N, 2], i: i64[K], u: f32[K]) -> f32[N, 2] where N >= 1 {
        scatter_add(x, i, u)
    }
}

fn main() {}
