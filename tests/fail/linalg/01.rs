use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N, M>(a: f64[N, M]) -> f64[N, M] {
        cholesky(a)
    }
}

fn main() {}
