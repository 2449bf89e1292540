use tensorjit::tensor_fn;

tensor_fn! {
    pub fn slices<N>(x: f32[N, 4]) -> f32[N, 4, 3] {
        windows(x, axis = 0, size = 3)
    }
}

fn main() {}
