use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32, c: bool) -> f32 {
        let (a, b) = if c { (x, x) } else { x };
        a + b
    }
}

fn main() {}
