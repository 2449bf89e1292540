use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N, M>(a: f64[N, N], b: f64[M, N]) -> f64[N, M] {
        triangular_solve(a, b, left = true)
    }
}

fn main() {}
