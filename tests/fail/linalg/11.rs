use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(a: f64[N, N], b: f32[N]) -> f64[N] {
        solve(a, b)
    }
}

fn main() {}
