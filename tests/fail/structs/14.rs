use tensorjit::tensor_fn;

tensor_fn! {
    struct A { b: B }
    struct B { c: [A; 2] }
    pub fn f(x: f32) -> f32 {
        x
    }
}

fn main() {}
