use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32) -> bool {
        1 < 2
    }
}

fn main() {}
