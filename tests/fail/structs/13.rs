use tensorjit::tensor_fn;

tensor_fn! {
    pub struct Tree<N> { value: f32[N], left: Tree<N> }
    pub fn f<N>(t: Tree<N>) -> f32[N] {
        t.value
    }
}

fn main() {}
