use tensorjit::tensor_fn;

tensor_fn! {
    pub struct Layer<I, O> { w: f32[I, O], b: f32[O] }
    pub fn f<I, O>(x: f32[I], p: Layer<I, O>) -> Layer<I, O> {
        p + x
    }
}

fn main() {}
