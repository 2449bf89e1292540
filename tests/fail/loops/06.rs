use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(x: f32[N]) -> f32[N] {
        let mut s = 0.0;
        for i in 0..3 { s = s + x; }
        s
    }
}

fn main() {}
