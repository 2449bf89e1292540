use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f<BATCH>(x: f32[BACTH]) -> f32 {
        sum(x)
    }
}

fn main() {}
