use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(x: f32[N]) -> (f32[3], i64[3]) {
        top_k(x, 3)
    }
}

fn main() {}
