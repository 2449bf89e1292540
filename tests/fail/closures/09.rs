use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32) -> f32 {
        fold(0.0, 3, |h, _| h + x)
    }
}

fn main() {}
