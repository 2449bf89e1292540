use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32) -> bool {
        0 < x < 1
    }
}

fn main() {}
