use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(b: bool) -> bool {
        b + b
    }
}

fn main() {}
