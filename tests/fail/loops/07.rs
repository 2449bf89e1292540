use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[3]) -> f32 {
        let mut s = 0.0;
        for i in 0..4 { s = s + x[i]; }
        s
    }
}

fn main() {}
