use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32) -> f32 {
        fold(x, x, |h, _| h + x)
    }
}

fn main() {}
