use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(a: f32[N]) -> f32[N] {
        inverse(a)
    }
}

fn main() {}
