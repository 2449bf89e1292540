use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<T>(x: f32[T]) -> f32[T / 4, 4] {
        reshape(x, [T / 4, 4])
    }
}

fn main() {}
