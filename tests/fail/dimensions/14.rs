use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N, M>(x: f32[N]) -> f32[N - M] {
        zeros([N - M])
    }
}

fn main() {}
