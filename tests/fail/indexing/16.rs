use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[3], s: f32) -> f32[3] {
        roll(x, s)
    }
}

fn main() {}
