use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<B, C>(x: f32[B, C], t: f32[C, B]) -> f32 {
        mse(x, t)
    }
}

fn main() {}
