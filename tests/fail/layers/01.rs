use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[4], y: f32[4]) -> f32 {
        huber(x, y, reduction = "average")
    }
}

fn main() {}
