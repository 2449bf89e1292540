use tensorjit::tensor_fn;

tensor_fn! {
    pub fn flat(x: f32[8, 8], w: f32[3, 3]) -> f32[6, 6] {
        conv(x, w)
    }
}

fn main() {}
