use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(x: f32[N], c: bool) -> f32[N] {
        if c { x } else { sum(x) }
    }
}

fn main() {}
