use tensorjit::tensor_fn;

tensor_fn! {
    const HALF: i32 = 0.5;

    pub fn f(x: i32) -> i32 {
        x * HALF
    }
}

fn main() {}
