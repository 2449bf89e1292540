use tensorjit::tensor_fn;

tensor_fn! {
    pub fn mixed(x: f32[1, 1, 8], w: f64[1, 1, 3]) -> f64[1, 1, 6] {
        conv(x, w)
    }
}

fn main() {}
