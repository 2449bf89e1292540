use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(x: f32[N], i: i64[2]) -> f32[2] {
        x[i]
    }
}

fn main() {}
