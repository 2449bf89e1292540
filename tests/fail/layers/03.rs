use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<B, C>(x: f32[B, C], y: f32[C]) -> f32 {
        mse(x, y)
    }
}

fn main() {}
