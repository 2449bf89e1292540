use tensorjit::tensor_fn;

tensor_fn! {
    pub struct Layer<I, O> { w: f32[I, O], b: f32[O] }
    pub fn f<I, O>(w: f32[I, O], b: f32[I]) -> Layer<I, O> {
        Layer { w, b }
    }
}

fn main() {}
