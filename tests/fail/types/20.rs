use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32) -> f32 {
        sum(arange(3)) as i32 as f32 + x
    }
}

fn main() {}
