use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(p: Vec<3>) -> f32 {
        p.w
    }
}

fn main() {}
