use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(a: f32, b: f32) -> f32 {
        jvp(a * b, (a, b), a)
    }
}

fn main() {}
