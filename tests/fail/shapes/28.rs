use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[3], m: &mut f32[2]) {
        m = x;
    }
}

fn main() {}
