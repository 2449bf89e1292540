//! Names that Rust's or the expansion's own code might use do not collide.

#![deny(warnings)]
#![allow(dead_code)]

mod outer {
    use tensorjit::tensor_fn;

    type Result = ();
    struct Ok;
    struct Option;

    tensor_fn! {
        /// All names are the user's.
        pub(crate) fn dims<Vec, Error>(args: f32[Vec], result: f32[Error], arena: f32) -> (f32[Vec], f32[Error]) {
            let out = args * arena;
            (out, result)
        }

        fn unused(x: f32) -> f32 { x }
    }

    tensor_fn! {
        pub fn second(second: f32) -> f32 { second + 1 }
    }
}

fn main() {
    let (a, b) = outer::dims(&[1.0, 2.0], &[3.0], 2.0).unwrap();
    assert_eq!((a.to_vec(), b.to_vec()), (vec![2.0, 4.0], vec![3.0]));
    assert_eq!(outer::second(1.0).unwrap(), 2.0);
}
