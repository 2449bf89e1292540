use tensorjit::tensor_fn;

tensor_fn! {
    pub fn strides(x: f32[1, 1, 8, 8], w: f32[1, 1, 3, 3]) -> f32[1, 1, 3, 2] {
        conv(x, w, stride = (2, 3, 1))
    }
}

fn main() {}
