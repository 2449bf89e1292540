use tensorjit::tensor_fn;

tensor_fn! {
    pub struct Layer<I, O> { w: f32[I, O], b: f32[O] }
    pub fn f<D>(p: Layer[D, D]) -> f32[D] {
        p.b
    }
}

fn main() {}
