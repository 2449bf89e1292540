use tensorjit::tensor_fn;

tensor_fn! {
    pub struct Layer<I, O> { w: f32[I, O], b: f32[O] }
    fn last<I, O>(p: Layer<I, O>) -> f32[O] { p.b }
    pub fn f<I, O>(p: Layer<I, O>) -> f32[O] {
        last(p.b)
    }
}

fn main() {}
