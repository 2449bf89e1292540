use tensorjit::tensor_fn;

tensor_fn! {
    #[vjp]
    pub fn f(x: f32) -> f32 { x }
}

fn main() {}
