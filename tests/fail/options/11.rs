use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32) -> f32[3] {
        zeros([3], dtype = 3)
    }
}

fn main() {}
