use tensorjit::tensor_fn;

tensor_fn! {
    pub struct Deep { a: f32[1, 1, 1, 1, 1, 1, 2] }
    pub fn f(x: f32) -> f32 {
        x
    }
}

fn main() {}
