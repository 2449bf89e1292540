use tensorjit::tensor_fn;

tensor_fn! {
    use shared_layers::layers::dense;
    fn dense(x: f32) -> f32 { 2 * x }
    pub fn f(x: f32) -> f32 { dense(x) }
}

fn main() {}
