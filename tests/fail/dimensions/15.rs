use tensorjit::tensor_fn;

tensor_fn! {
    fn pairs<N>(x: f32[2 * N]) -> f32[N] where N > 4 { x[..N] }
    pub fn f<K>(x: f32[2 * K], n: f32[K]) -> f32[K] {
        n + even(x, n)
    }
    fn even<N: 8..>(x: f32[2 * N], n: f32[N]) -> f32[N] { x[..N] + n }
}

fn main() {}
