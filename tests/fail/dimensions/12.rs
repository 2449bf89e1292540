use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(x: f32[N]) -> i64 {
        argmax(x)
    }
}

fn main() {}
