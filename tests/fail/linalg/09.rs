use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(a: f64[N, N], b: f64) -> f64 {
        solve(a, b)
    }
}

fn main() {}
