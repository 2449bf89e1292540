use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32) -> f32 {
        let y = |a| a;
        x
    }
}

fn main() {}
