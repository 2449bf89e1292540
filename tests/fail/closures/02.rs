use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(x: f32[N]) -> (f32[N], f32[3, N]) {
        scan(x, 3, |h, _| 2 * h)
    }
}

fn main() {}
