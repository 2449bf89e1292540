use tensorjit::tensor_fn;

tensor_fn! {
    use shared_layers::layers::Dense;
    pub fn f<N>(layer: Dense<N>) -> f32[N] { layer.b }
}

fn main() {}
