use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<B, N: 1..=B>(x: f32[B, N]) -> f32 {
        sum(x)
    }
}

fn main() {}
