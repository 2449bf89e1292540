use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[3], k: i32) -> f32 {
        sum(x, axis = k)
    }
}

fn main() {}
