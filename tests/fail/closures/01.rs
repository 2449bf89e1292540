use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(x: f32[N]) -> f32[N] {
        fold(x, 3, |h, _| sum(h))
    }
}

fn main() {}
