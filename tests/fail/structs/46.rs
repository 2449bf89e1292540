use tensorjit::tensor_fn;

tensor_fn! {
    pub struct State { x: f32[3], step: i64 }
    pub fn f(s: State) -> State {
        grad(sum(s.x), s)
    }
}

fn main() {}
