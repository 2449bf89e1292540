use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(x: f32[N / 0]) -> f32 {
        sum(x)
    }
}

fn main() {}
