use tensorjit::tensor_fn;

tensor_fn! {
    pub struct P { a: f32 }
    pub fn f(p: [P; 2], q: [P; 3]) -> f32 {
        let mut s = 0.0;
        for (a, b) in zip(p, q) { s = s + a.a * b.a; }
        s
    }
}

fn main() {}
