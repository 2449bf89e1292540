use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32, c: bool) -> f32 {
        let mut y = x;
        if c { y = 2 * x; y } else { y }
    }
}

fn main() {}
