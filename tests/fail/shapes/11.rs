use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[2, 3]) -> f32[2] {
        sum(x, axis = 2)
    }
}

fn main() {}
