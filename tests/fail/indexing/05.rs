use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[3, 3], i: i64[2], j: i64[3]) -> f32[3] {
        x[i, j]
    }
}

fn main() {}
