use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32) -> f32 {
        { let y = x; y } + y
    }
}

fn main() {}
