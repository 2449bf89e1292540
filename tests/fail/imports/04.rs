mod a {
    tensorjit::tensor_fn! {
        use crate::b::g;
        pub fn f(x: f32) -> f32 { g(x) }
    }
}

mod b {
    tensorjit::tensor_fn! {
        use crate::a::f;
        pub fn g(x: f32) -> f32 { f(x) }
    }
}

fn main() {}
