use tensorjit::tensor_fn;

mod own {
    tensorjit::tensor_fn! {
        pub struct Dense<I, O> { w: f32[I, O], b: f32[O] }
    }
}

tensor_fn! {
    use own::Dense;
    use shared_layers::layers::dense;
    pub fn f<B, I, O>(x: f32[B, I], layer: Dense<I, O>) -> f32[B, O] {
        dense(x, layer)
    }
}

fn main() {}
