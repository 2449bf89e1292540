use tensorjit::tensor_fn;

tensor_fn! {
    pub struct Row { a: f32[2], a: f32[3] }
    pub fn f(x: f32) -> f32 {
        x
    }
}

fn main() {}
