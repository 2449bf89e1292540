use tensorjit::tensor_fn;

tensor_fn! {
    pub struct Layer<I, O> { w: f32[I, O], b: f32[O] }
    pub fn f<I, O>(p: &mut Layer<I, O>) {
        p = p.w;
    }
}

fn main() {}
