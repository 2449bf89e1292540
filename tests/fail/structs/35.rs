use tensorjit::tensor_fn;

tensor_fn! {
    pub struct Layer<I, O> { w: f32[I, O], b: f32[O] }
    pub fn f<D>(layers: [Layer<D, D>; 3], i: i64) -> f32[D] {
        layers[i].b
    }
}

fn main() {}
