use tensorjit::tensor_fn;

tensor_fn! {
    use shared_layers::layers::{Dense, dense};
    pub fn f<B, I, O>(x: f32[B, O], layer: Dense<I, O>) -> f32[B, O] {
        dense(x, layer)
    }
}

fn main() {}
