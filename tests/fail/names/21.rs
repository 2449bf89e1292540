use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<x>(x: f64[x]) -> f64 {
        sum(x)
    }
}

fn main() {}
