use tensorjit::tensor_fn;

tensor_fn! {
    fn same<N>(a: f32[N], b: f32[N]) -> f32[N] { a + b }
    pub fn f(a: f32[3], b: f32[4]) -> f32[3] {
        same(a, b)
    }
}

fn main() {}
