use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(x: f32[N]) -> f32[N] {
        if x > 0 { x } else { -x }
    }
}

fn main() {}
