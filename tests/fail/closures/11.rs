use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(x: f32[N]) -> f32[N] {
        while_loop(x, |x| x < 1, |x| x + 1, max = 3)
    }
}

fn main() {}
