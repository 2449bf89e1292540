use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(a: f32) -> f32[2] {
        concat([a, a])
    }
}

fn main() {}
