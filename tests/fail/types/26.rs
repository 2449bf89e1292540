use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32) {
        x
    }
}

fn main() {}
