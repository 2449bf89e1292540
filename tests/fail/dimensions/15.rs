use tensorjit::tensor_fn;

tensor_fn! {
    fn large<N>(x: f32[N]) -> f32[N] where N > 4 { x }
    pub fn f<K>(x: f32[K]) -> f32[K] {
        large(x)
    }
}

fn main() {}
