use tensorjit::tensor_fn;

tensor_fn! {
    pub struct A { x: f32 }
    pub struct B { x: f32 }
    pub fn f(a: A, b: B) -> A {
        a - b
    }
}

fn main() {}
