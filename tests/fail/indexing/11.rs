use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(x: f32[N]) -> f32[N + 4] {
        pad(x, 2, mode = "reflect")
    }
}

fn main() {}
