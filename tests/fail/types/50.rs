use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f16[3, 4], gain: f32[4]) -> f16[3, 4] {
        layer_norm(x, gain)
    }
}

fn main() {}
