use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32, n: i64, c: bool) -> f32 {
        if c { x } else { n }
    }
}

fn main() {}
