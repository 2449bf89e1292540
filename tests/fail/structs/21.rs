use tensorjit::tensor_fn;

tensor_fn! {
    pub struct Row { a: f33[3] }
    pub fn f(x: f32) -> f32 {
        x
    }
}

fn main() {}
