use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<T>(x: f32[T]) -> f32[2, T / 2] {
        reshape(x, [2, -1])
    }
}

fn main() {}
