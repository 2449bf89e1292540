use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32) -> i64[3] {
        arange(0, 6, 0)
    }
}

fn main() {}
