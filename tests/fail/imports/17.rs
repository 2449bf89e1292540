mod layers {
    tensorjit::tensor_fn! { fn factor(x: f32) -> f32 { 2 * x } }
    tensorjit::tensor_fn! { fn factor(x: f32) -> f32 { 3 * x } }
}

tensorjit::tensor_fn! {
    use layers::factor;
    pub fn f(x: f32) -> f32 { factor(x) }
}

fn main() {}
