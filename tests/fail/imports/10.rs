use tensorjit::tensor_fn;

tensor_fn! {
    use shared_layers::layers::scaled;
    pub fn f<N>(x: f32[N]) -> f32[N] { scaled(x) }
}

fn main() {}
