use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(m: &mut f32[N]) -> f32[N] {
        fold(m, 3, |h, _| { m = h; h })
    }
}

fn main() {}
