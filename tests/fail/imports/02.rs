use tensorjit::tensor_fn;

tensor_fn! {
    use shared_layers::layers::densest;
    pub fn f<B, I>(x: f32[B, I]) -> f32[B, I] { densest(x) }
}

fn main() {}
