use tensorjit::tensor_fn;

mod layers {
    tensorjit::tensor_fn! {
        fn helper(x: f32) -> f32 { x }
        pub fn f(x: f32) -> f32 { helper(x) }
    }
}

tensor_fn! {
    use layers::{f, helper};
    pub fn g(x: f32) -> f32 { f(helper(x)) }
}

fn main() {}
