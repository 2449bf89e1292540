use tensorjit::tensor_fn;

tensor_fn! {
    #[jvp(f_jvp)]
    fn f(n: i64) -> f32 { n as f32 }
    fn f_jvp(n: i64, y: f32) -> f32 { y * (n as f32) }

    pub fn g(n: i64) -> f32 { f(n) }
}

fn main() {}
