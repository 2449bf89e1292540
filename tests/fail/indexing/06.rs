use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(x: f32[N, 3], i: i64[N]) -> f32[N] {
        take_along_axis(x, i, axis = 1)
    }
}

fn main() {}
