use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: i8) -> i8 {
        x + 128
    }
}

fn main() {}
