use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32) -> f32 {
        let double = |y| 2 * y;
        double + x
    }
}

fn main() {}
