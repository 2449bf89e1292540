mod layers {
    tensorjit::tensor_fn! {
        pub struct Layer<N> { w: f32[N] }
        pub fn scale<N, M>(x: f32[M], layer: Layer<N>) -> f32[N] { x * layer.w }
    }
}

mod model {
    tensorjit::tensor_fn! {
        use crate::layers::{Layer, scale};
        pub fn twice<N>(x: f32[N], layer: Layer<N>) -> f32[N] { scale(scale(x, layer), layer) }
    }
}

fn run(layer: &layers::Layer) {
    let _ = model::twice(&[1.0], layer);
}

fn main() {}
