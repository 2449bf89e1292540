use tensorjit::tensor_fn;

tensor_fn! {
    fn dense(x: f32[4], w: f32[4, 2]) -> f32[2] { x @ w }
    pub fn f(x: f32[3], w: f32[4, 2]) -> f32[2] {
        dense(x, w)
    }
}

fn main() {}
