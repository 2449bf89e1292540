use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[3]) -> f32[2, 4] {
        broadcast_to(x, [2, 4])
    }
}

fn main() {}
