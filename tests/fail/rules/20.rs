use tensorjit::tensor_fn;

tensor_fn! {
    #[vjp(sin)]
    fn f(x: f32) -> f32 { x }

    pub fn g(x: f32) -> f32 { grad(f(x), x) }
}

fn main() {}
