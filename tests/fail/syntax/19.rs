use tensorjit::tensor_fn;

tensor_fn! {
    #[specialize()]
    pub fn none<N>(x: f32[N]) -> f32 {
        sum(x)
    }

    #[specialize(N)]
    pub fn no_relation<N>(x: f32[N]) -> f32 {
        sum(x)
    }

    #[specialize(N == 1 || N == 2)]
    pub fn either<N>(x: f32[N]) -> f32 {
        sum(x)
    }

    #[specialize = 4]
    pub fn no_list<N>(x: f32[N]) -> f32 {
        sum(x)
    }

    #[specialize(N = 1)]
    const C: f32 = 1.0;
}

fn main() {}
