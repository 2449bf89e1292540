use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(x: f32[N]) -> f32 {
        let mut s = 0.0;
        for i in 0..N { s = s + x[i]; }
        s
    }
}

fn main() {}
