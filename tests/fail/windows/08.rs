use tensorjit::tensor_fn;

tensor_fn! {
    pub fn padded(x: f32[1, 1, 8, 8], w: f32[1, 1, 3, 3]) -> f32[1, 1, 8, 8] {
        conv(x, w, padding = "full")
    }
}

fn main() {}
