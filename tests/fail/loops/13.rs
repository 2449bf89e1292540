use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32) -> f32 {
        let mut y = x;
        for i in 3.. { y = y * x; }
        y
    }
}

fn main() {}
