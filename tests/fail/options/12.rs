use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<B>(x: f32[B, 2], l: i64[B]) -> f32 {
        cross_entropy(x, l, reduction = mean)
    }
}

fn main() {}
