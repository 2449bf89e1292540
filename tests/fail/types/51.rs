use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[3], i: f16[2]) -> f32[2] {
        x[i]
    }
}

fn main() {}
