use tensorjit::tensor_fn;

mod outer {
    mod inner {
        tensorjit::tensor_fn! {
            pub fn f(x: f32) -> f32 { x }
        }
    }
}

tensor_fn! {
    use outer::inner::f;
    pub fn g(x: f32) -> f32 { f(x) }
}

fn main() {}
