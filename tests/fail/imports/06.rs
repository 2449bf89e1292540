use tensorjit::tensor_fn;

tensor_fn! {
    use shared_layers::{layers::dense, model::mlp as dense};
    pub fn f(x: f32) -> f32 { x }
}

fn main() {}
