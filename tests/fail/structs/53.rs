use tensorjit::tensor_fn;

tensor_fn! {
    pub struct Motion { place: f64[2], speed: f64[2] }
    pub struct Pair { a: Motion, b: Motion }

    pub fn moved(pair: Pair) -> f64[2] {
        pair.a.place + pair.b.spede
    }
}

fn main() {
    // The struct is there for what uses it, so that the mistake alone is told.
    let motion = Motion { place: tensorjit::ndarray::array![1.0, 2.0], speed: tensorjit::ndarray::array![0.0, 0.0] };
    let pair = Pair { a: motion.clone(), b: motion };
    println!("{}", pair.a.place);
}
