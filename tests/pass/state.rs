//! Parameters that keep their last value, and a function that has no other result.

#![deny(warnings)]

use tensorjit::tensor_fn;

tensor_fn! {
    const DECAY: f32 = 0.5;

    pub fn momentum<N>(p: &mut f32[N], v: &mut f32[N], steps: &mut i32, g: f32[N]) {
        v = DECAY * v + g;
        p = p - 0.25 * v;
        steps = steps + 1;
    }
}

fn main() {
    let (mut p, mut v, mut steps) = ([1.0, 2.0], [0.0, 0.0], 0);
    momentum(&mut p, &mut v, &mut steps, &[4.0, 8.0]).unwrap();
    momentum(&mut p, &mut v, &mut steps, &[0.0, 0.0]).unwrap();
    assert_eq!((v, steps), ([2.0, 4.0], 2));
    assert_eq!(p, [1.0 - 1.0 - 0.5, 2.0 - 2.0 - 1.0]);
}
