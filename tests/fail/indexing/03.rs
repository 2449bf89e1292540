use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[3], i: f32[2]) -> f32[2] {
        take(x, i)
    }
}

fn main() {}
