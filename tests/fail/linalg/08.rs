use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(a: f64[N, N], b: f64[N], lower: bool) -> f64[N] {
        triangular_solve(a, b, lower = lower)
    }
}

fn main() {}
