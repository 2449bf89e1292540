use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32, c: bool) -> f32 {
        if c { x }
    }
}

fn main() {}
