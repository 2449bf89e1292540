use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(w: f32[3], g: f32[3], m: f32[3], v: f32[3], step: i64) -> f32[3] {
        adam(w, g, m, v, step).0
    }
}

fn main() {}
