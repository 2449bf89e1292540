use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[3]) -> f32 {
        for i in 0..3 { }
        sum(x)
    }
}

fn main() {}
