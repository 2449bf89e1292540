use tensorjit::tensor_fn;

tensor_fn! {
    #[vjp(count_vjp)]
    fn count<N>(x: f32[N]) -> i64 { sum((x > 0) as i64) }
    fn count_vjp<N>(x: f32[N], y: i64, cotangent: f32) -> f32[N] { cotangent * x * (y as f32) }

    pub fn g<N>(x: f32[N]) -> i64 { count(x) }
}

fn main() {}
