use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<B, N>(x: f32[B, N], y: f32[B]) -> f32[B, N] {
        x * y
    }
}

fn main() {}
