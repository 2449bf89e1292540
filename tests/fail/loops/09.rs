use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32) -> f32 {
        let mut y = x;
        for i in 0..3 { y = y * i; }
        y
    }
}

fn main() {}
