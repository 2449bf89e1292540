use tensorjit::tensor_fn;

tensor_fn! {
    pub struct Layer<I, O> { w: f32[I, O], b: f32[O] }
    pub struct Model<D> { layers: [Layer<D>; 6] }
    pub fn f<D>(m: Model<D>) -> f32[D] {
        m.layers[0].b
    }
}

fn main() {}
