use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N, C>(x: f32[N, C, 8]) -> f32[N, C, 8] {
        group_norm(x, 2)
    }
}

fn main() {}
