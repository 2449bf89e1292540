use tensorjit::tensor_fn;

tensor_fn! {
    pub fn power(x: f32[8], p: f32) -> f32[4] {
        lp_pool(x, 2, p = p)
    }
}

fn main() {}
