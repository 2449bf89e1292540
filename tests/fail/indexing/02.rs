use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: bool[3]) -> bool[3] {
        cummax(x)
    }
}

fn main() {}
