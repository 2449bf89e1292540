use tensorjit::tensor_fn;

tensor_fn! {
    pub fn features(image: f32[1, 3, 8, 8], kernel: f32[16, 1, 3, 3]) -> f32[1, 16, 6, 6] {
        conv(image, kernel)
    }
}

fn main() {}
