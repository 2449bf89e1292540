use tensorjit::tensor_fn;

mod doubled {
    tensorjit::tensor_fn! {
        fn a(x: f32) -> f32 { b(x) + b(x) }
        fn b(x: f32) -> f32 { c(x) + c(x) }
        fn c(x: f32) -> f32 { d(x) + d(x) }
        fn d(x: f32) -> f32 { e(x) + e(x) }
        fn e(x: f32) -> f32 { f(x) + f(x) }
        fn f(x: f32) -> f32 { g(x) + g(x) }
        fn g(x: f32) -> f32 { h(x) + h(x) }
        fn h(x: f32) -> f32 { i(x) + i(x) }
        fn i(x: f32) -> f32 { j(x) + j(x) }
        fn j(x: f32) -> f32 { k(x) + k(x) }
        fn k(x: f32) -> f32 { l(x) + l(x) }
        fn l(x: f32) -> f32 { 2 * x }
        pub fn often(x: f32) -> f32 { a(x) }
    }
}

tensor_fn! {
    use doubled::often;
    pub fn f(x: f32) -> f32 { often(often(often(x))) }
}

fn main() {}
