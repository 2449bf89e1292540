use tensorjit::tensor_fn;

tensor_fn! {
    fn g<T: flaot>(x: T) -> T { x }
    pub fn f(x: f32) -> f32 { g(x) }
}

fn main() {}
