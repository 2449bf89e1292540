use tensorjit::tensor_fn;

tensor_fn! {
    struct Pair { a: f32, n: i64 }
    #[vjp(f_vjp)]
    fn f(pair: Pair) -> f32 { pair.a * (pair.n as f32) }
    fn f_vjp(pair: Pair, y: f32, cotangent: f32) -> f32 { cotangent * y * pair.a }

    pub fn g(x: f32, n: i64) -> f32 { f(Pair { a: x, n }) }
}

fn main() {}
