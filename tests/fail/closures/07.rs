use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32, y: f32) -> (f32, f32) {
        fold((x, y), 3, |(a, b), _| (a, b, a))
    }
}

fn main() {}
