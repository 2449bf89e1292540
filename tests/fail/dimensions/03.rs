use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<B: 8..=4>(x: f32[B]) -> f32 {
        sum(x)
    }
}

fn main() {}
