use tensorjit::tensor_fn;

tensor_fn! {
    pub struct Layer<I, O> { w: f32[I, O], b: f32[O] }
    pub fn f<I, O>(p: Layer<I, O>, x: f32[O]) -> Layer<I, O> {
        Layer { b: p.b, ..x }
    }
}

fn main() {}
