use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[3], h: f32[4], c: f32[4], w: f32[3, 12], u: f32[4, 16]) -> f32[4] {
        let (h, _) = lstm_cell(x, h, c, w, u);
        h
    }
}

fn main() {}
