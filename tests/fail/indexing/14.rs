use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(a: f32[2, 3]) -> f32[2] {
        einsum("ij->k", a)
    }
}

fn main() {}
