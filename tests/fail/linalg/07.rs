use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(a: f64[2, 3, 3], b: f64[5, 3, 1]) -> f64[5, 3, 1] {
        solve(a, b)
    }
}

fn main() {}
