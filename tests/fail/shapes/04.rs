use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<B>(x: f32[B, 4], w: f32[3, 2]) -> f32[B, 2] {
        x @ w
    }
}

fn main() {}
