use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[3], l: f32[3]) -> f32 {
        cross_entropy(expand_dims(x, 0), l)
    }
}

fn main() {}
