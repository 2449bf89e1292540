use tensorjit::tensor_fn;

tensor_fn! {
    fn scale<..S>(x: f32[..S], by: int = 2) -> f32[..S] { x * (by as f32) }
    pub fn f(x: f32[3], k: i64) -> f32[3] {
        scale(x, by = k)
    }
}

fn main() {}
