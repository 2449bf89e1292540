use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(x: f32[N, 6, 8]) -> f32[N, 6, 8] {
        group_norm(x, 4)
    }
}

fn main() {}
