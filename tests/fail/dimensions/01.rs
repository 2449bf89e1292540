use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[M]) -> f32 {
        sum(x)
    }
}

fn main() {}
