use tensorjit::tensor_fn;

tensor_fn! {
    struct Hidden { a: f32 }
    pub struct Shown { inner: Hidden }
    pub fn f(x: f32) -> f32 {
        x
    }
}

fn main() {}
