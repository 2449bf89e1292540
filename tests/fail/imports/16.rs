use tensorjit::tensor_fn;

tensor_fn! {
    use shared_layers::layers::{SLOPE, dense};
    pub fn g(x: f32) -> f32 { SLOPE(x) + dense }
}

fn main() {}
