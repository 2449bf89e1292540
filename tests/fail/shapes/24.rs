use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[2, 3]) -> f32[4, 5] {
        pad(x, [(1, 1)])
    }
}

fn main() {}
