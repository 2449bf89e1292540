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
        const HALF: f32 = 0.5;

        pub fn second(second: f32) -> f32 { second + HALF * 2 }
    }

    tensor_fn! {
        /// What Rust reserves and this language does not.
        pub fn gen<try>(abstract: f32[try], become: f32, final: f32) -> f32[try] {
            let do = become * final;
            let macro = do + helper(final);
            abstract * macro
        }

        fn helper(override: f32) -> f32 { let priv = override; priv }

        pub fn yield<typeof, virtual>(unsized: f32[typeof], gen: &mut f32[virtual]) -> f32 {
            gen = gen + 1;
            sum(unsized) + sum(gen)
        }
    }
}

fn main() {
    let (a, b) = outer::dims(&[1.0, 2.0], &[3.0], 2.0).unwrap();
    assert_eq!((a.to_vec(), b.to_vec()), (vec![2.0, 4.0], vec![3.0]));
    assert_eq!(outer::second(1.0).unwrap(), 2.0);
    assert_eq!(outer::r#gen(&[1.0, 2.0], 3.0, 4.0).unwrap().to_vec(), vec![16.0, 32.0]);
    let dims = outer::r#yield::Dims { r#typeof: 2, r#virtual: 3 };
    let mut state = [0.0; 3];
    assert_eq!(outer::r#yield::with_dims(dims, &[1.0, 2.0], &mut state).unwrap(), 6.0);
    let error = outer::r#yield::with_dims(dims, &[1.0, 2.0], &mut [0.0; 2]).unwrap_err();
    assert_eq!((error.function(), error.argument()), ("yield", Some("gen")));
}
