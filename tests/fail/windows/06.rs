use tensorjit::tensor_fn;

tensor_fn! {
    pub fn edges<B, N>(x: f32[B, 1, N], w: f32[4, 1, 3]) -> f32[B, 4, N - 2] {
        conv(x, w)
    }
}

fn main() {}
