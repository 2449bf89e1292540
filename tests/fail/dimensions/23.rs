use tensorjit::tensor_fn;

tensor_fn! {
    #[specialize(M = 1, N > 512, N == 0.5, 3 == 3, N % 2 == 0 && N == 7)]
    pub fn f<N: 1..=512>(x: f32[N]) -> f32 {
        sum(x)
    }

    #[specialize(N % K == 0)]
    pub fn g<N, K>(x: f32[N], y: f32[K]) -> f32 {
        sum(x) + sum(y)
    }

    #[specialize(N = 1)]
    fn helper<N>(x: f32[N]) -> f32[N] {
        x + 1
    }
}

fn main() {
    f(&[1.0]).unwrap();
}
