use tensorjit::tensor_fn;

tensor_fn! {
    pub fn upsampled(x: f32[1, 4, 8], w: f32[2, 4, 2]) -> f32[1, 2, 16] {
        conv_transpose(x, w, stride = 2)
    }
}

fn main() {}
