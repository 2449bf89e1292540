use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32, n: i64) -> f32 {
        while_loop(x, |x| x < 1, |x| x + 1, max = n)
    }
}

fn main() {}
