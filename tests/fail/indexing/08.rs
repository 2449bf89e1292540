use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[4], i: i64[3]) -> f32[4] {
        put_along_axis(x, i, 1, axis = 0, mode = "replace")
    }
}

fn main() {}
