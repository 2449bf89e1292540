use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(a: f32[2, 3], b: f32[3]) -> f32[2] {
        einsum(a, b)
    }
}

fn main() {}
