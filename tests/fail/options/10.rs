use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[4]) -> f32[2] {
        x[..;0]
    }
}

fn main() {}
