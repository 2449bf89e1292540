use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[2, 8, 8]) -> f32[2, 16, 16] {
        resize_2d(x, 16, 16, mode = "bicubic")
    }
}

fn main() {}
