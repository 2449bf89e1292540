use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f16[3]) -> f32 {
        sum(x)
    }
}

fn main() {}
