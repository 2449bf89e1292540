use tensorjit::tensor_fn;

tensor_fn! {
    pub struct Layer<I, O> { w: f32[I, O], b: f32[O] }
    fn wide<I, O>(p: Layer<I, 2 * O>) -> f32[O] { p.b[..O] }
    pub fn f<I, O>(p: Layer<I, O>) -> f32[O] {
        wide(p)
    }
}

fn main() {}
