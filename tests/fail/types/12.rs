use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: i32) -> i32 {
        x + 3000000000
    }
}

fn main() {}
