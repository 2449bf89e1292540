use tensorjit::tensor_fn;

tensor_fn! {
    pub struct Pair<T: float> { a: T, b: T }
    pub fn f(x: f32) -> f32 {
        x
    }
}

fn main() {}
