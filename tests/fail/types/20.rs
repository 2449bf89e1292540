use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32) -> f32 {
        select(sum(arange(3)) > 2, x, 0.0)
    }
}

fn main() {}
