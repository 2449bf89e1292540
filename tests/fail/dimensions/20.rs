use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(x: f32[N], s: f32) -> f32[s] {
        x
    }
}

fn main() {}
