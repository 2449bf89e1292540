use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<T, K>(x: f32[T + K], a: f32[T], b: f32[K]) -> f32 {
        sum(x[T..K * ceil_div(T, K)]) + sum(a) + sum(b)
    }
}

fn main() {}
