use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N, M>(a: f32[N, M], b: f32[N, M]) -> f32[N, M] {
        einsum("ij,jk->ik", a, b)
    }
}

fn main() {}
