use tensorjit::tensor_fn;

tensor_fn! {
    pub fn f(p: Leyer) -> f32 {
        p.w
    }
    pub struct Layer { w: f32 }
}

fn main() {}
