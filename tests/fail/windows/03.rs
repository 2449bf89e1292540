use tensorjit::tensor_fn;

tensor_fn! {
    pub fn grouped(x: f32[2, 6, 9], w: f32[4, 2, 3]) -> f32[2, 4, 7] {
        conv(x, w, groups = 3)
    }
}

fn main() {}
