use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(a: bool[2, 2], b: bool[2, 2]) -> bool[2, 2] {
        a @ b
    }
}

fn main() {}
