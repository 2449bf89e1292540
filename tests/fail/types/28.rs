use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32) -> f32 {
        let y = sin(2);
        x * y as i32
    }
}

fn main() {}
