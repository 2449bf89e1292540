use tensorjit::tensor_fn;

tensor_fn! {
    use shared_layers::layers::{self, Dense as _};
    #[allow(unused)]
    use shared_layers::layers::dense;
    use shared_layers::layers::;
    use shared_layers::layers dense;
    use;
    pub fn f(x: f32) -> f32 { x }
}

fn main() {}
