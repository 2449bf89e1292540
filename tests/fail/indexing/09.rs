use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(x: f32[N], i: i64) -> f32[4] {
        dynamic_slice(x, i, [4])
    }
}

fn main() {}
