use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32) -> f32 {
        if x > 0 { x } else { 0 }
    }
}

fn main() {}
