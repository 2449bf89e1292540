use tensorjit::tensor_fn;

tensor_fn! {
    pub struct P { a: f32 }
    pub fn f(p: [P; 2]) -> f32 {
        let mut s = 0.0;
        for a in p { s = s + a.b; }
        s
    }
}

fn main() {}
