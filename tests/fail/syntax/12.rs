use tensorjit::tensor_fn;

tensor_fn! {
    struct Layer(f32[3]);

    pub fn f(x: f32) -> f32 {
        x
    }
}

fn main() {}
