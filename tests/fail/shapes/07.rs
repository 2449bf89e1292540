use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(a: f32[2, 3, 4], b: f32[5, 4, 3]) -> f32[2, 3, 3] {
        a @ b
    }
}

fn main() {}
