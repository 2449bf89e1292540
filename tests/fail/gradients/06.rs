use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32) -> f32 {
        let a = 2;
        grad(a * x, a)
    }
}

fn main() {}
