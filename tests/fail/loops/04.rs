use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32) -> f32 {
        let mut y = x;
        for i in 0..100 { for j in 0..100 { y = y * x; } }
        y
    }
}

fn main() {}
