use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(weight: f32) -> f32 {
        wieght * 2
    }
}

fn main() {}
