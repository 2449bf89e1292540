use tensorjit::tensor_fn;

tensor_fn! {
    use shared_layers::layers::*;
    pub fn f<B, I, O>(x: f32[B, I], layer: Dense<I, O>) -> f32[B, O] { dense(x, layer) }
}

fn main() {}
