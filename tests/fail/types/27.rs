use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: (f32, f32)) -> f32 {
        x.0
    }
}

fn main() {}
