use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<B, I>(x: f32[B, I]) -> f32[B, I] {
        shared_layers::layers::dense(x)
    }
}

fn main() {}
