use tensorjit::tensor_fn;

tensor_fn! {
    #[jvp(rule)]
    pub const RATE: f32 = 0.1;
}

fn main() {}
