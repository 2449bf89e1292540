use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<T: float>(x: T) -> T {
        x
    }
}

fn main() {}
