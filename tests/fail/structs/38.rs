use tensorjit::tensor_fn;

tensor_fn! {
    pub struct Layer<I, O> { w: f32[I, O], b: f32[O] }
    pub fn f<D>(a: [Layer<D, D>; 2], b: [Layer<D, D>; 3]) -> [Layer<D, D>; 2] {
        a + b
    }
}

fn main() {}
