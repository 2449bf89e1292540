use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(x: f32[N]) -> f32 where 2 == 3 {
        sum(x)
    }
}

fn main() {}
