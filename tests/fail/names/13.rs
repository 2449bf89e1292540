use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N, N>(x: f32[N]) -> f32 {
        sum(x)
    }
}

fn main() {}
