use tensorjit::tensor_fn;

tensor_fn! {
    #[jvp(f_jvp)]
    #[vjp(f_vjp)]
    pub fn f(x: f32) -> f32 { x }
}

fn main() {}
