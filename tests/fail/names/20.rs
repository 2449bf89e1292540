use tensorjit::tensor_fn;

tensor_fn! {
    pub const N: usize = 3;
    pub const N: usize = 4;
    pub fn f(x: f32[N]) -> f32 { sum(x) }
}

fn main() {}
