use tensorjit::tensor_fn;

tensor_fn! {
    pub struct f32 { x: f64 }
    pub fn f(x: f64) -> f64 {
        x
    }
}

fn main() {}
