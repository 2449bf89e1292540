use tensorjit::tensor_fn;

tensor_fn! {
    pub struct Layer<I, O> { w: f32[I, O], b: f32[O] }
    pub fn f<D>(p: Layer<D, D>) -> [Layer<D, D>; 3] {
        [p, p]
    }
}

fn main() {}
