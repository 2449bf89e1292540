use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(a: f32[3, 4]) -> f32 {
        det(a)
    }
}

fn main() {}
