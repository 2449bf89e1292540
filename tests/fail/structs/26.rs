use tensorjit::tensor_fn;

tensor_fn! {
    struct Hidden { a: f32 }
    pub fn f(p: Hidden) -> f32 {
        p.a
    }
}

fn main() {}
