use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(x: f32[4], mode: "sum" | "mean") -> f32 {
        if mode == "sum" { sum(x) } else { mean(x) }
    }
}

fn main() {}
