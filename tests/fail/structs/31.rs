use tensorjit::tensor_fn;

tensor_fn! {
    pub struct Layer<I, O> { w: f32[I, O], b: f32[O] }
    pub fn f<N, D>(layers: [Layer<D, D>; N]) -> f32[D] {
        layers[0].b
    }
}

fn main() {}
