use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<N>(a: i32[N, N]) -> i32 {
        det(a)
    }
}

fn main() {}
