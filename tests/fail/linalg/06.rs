use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(a: f64[3, 3], b: f64[2, 4]) -> f64[2, 4] {
        triangular_solve(a, b)
    }
}

fn main() {}
