use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(x: f32[N, 2]) -> f32[N] {
        let y: f32[N] = x;
        y
    }
}

fn main() {}
