use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(k: i32, x: f32) -> i32 {
        grad(x * (k as f32), k)
    }
}

fn main() {}
