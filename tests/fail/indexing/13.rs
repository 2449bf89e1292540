use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(a: f32[2, 3]) -> f32[2] {
        einsum("ijk->i", a)
    }
}

fn main() {}
