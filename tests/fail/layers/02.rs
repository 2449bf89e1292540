use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<B, C>(x: f32[B, C], labels: f32[B]) -> f32 {
        nll(x, labels)
    }
}

fn main() {}
