use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32) -> f32 {
        for i in 0..3 { let y = x * x; }
        y
    }
}

fn main() {}
