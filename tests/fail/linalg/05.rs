use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N, M>(a: f64[N, N], b: f64[M]) -> f64[M] {
        solve(a, b)
    }
}

fn main() {}
