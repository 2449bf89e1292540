use tensorjit::tensor_fn;

tensor_fn! {
    pub fn rounded(x: f32[9]) -> f32[5] {
        max_pool(x, 2, ceil_mode = 1)
    }
}

fn main() {}
