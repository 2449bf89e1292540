use tensorjit::tensor_fn;

tensor_fn! {
    #[jvp(f_jvp)]
    fn f<N>(x: f32[N]) -> (f32, f32[N]) { (sum(x), 2 * x) }
    fn f_jvp<N>(x: f32[N], total: f32, y: f32[N], dx: f32[N]) -> (f32, f32) { (sum(dx), total * sum(x * y * dx)) }

    pub fn g<N>(x: f32[N]) -> f32 { let (total, _) = f(x); total }
}

fn main() {}
