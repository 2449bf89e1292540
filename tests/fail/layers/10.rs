use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(w: f32[3], g: f64[3]) -> f32[3] {
        sgd(w, g, 0.1)
    }
}

fn main() {}
