use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32) -> f32 {
        while x > 0 { x }
    }
}

fn main() {}
