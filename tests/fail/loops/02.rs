use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[3]) -> f32 {
        for row in x { }
        sum(x)
    }
}

fn main() {}
