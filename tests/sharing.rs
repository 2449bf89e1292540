//! Blocks that import from blocks of another crate, from other modules, and from each other in a row.

use shared_layers::layers::Dense;
use shared_layers::model::{Mlp, mlp, scales};
use tensorjit::Leaf;
use tensorjit::ndarray::{Array1, Array2, array};

/// A training step of a model of another crate, whose layers come from a third block.
mod training {
    tensorjit::tensor_fn! {
        use ::shared_layers::model::{Mlp, mlp, loss as distance};

        /// One step down the gradient.
        pub fn step<B, I, H, O>(x: f32[B, I], y: f32[B, O], model: &mut Mlp<I, H, O>, rate: f32) -> f32 {
            let loss = distance(mlp(x, model), y);
            model = model - rate * grad(loss, model);
            loss
        }

        /// The gradient by the model.
        pub fn slope<B, I, H, O>(x: f32[B, I], y: f32[B, O], model: Mlp<I, H, O>) -> Mlp<I, H, O> {
            grad(distance(mlp(x, model), y), model)
        }
    }
}

/// Items of several blocks, and names that mean one thing here and another there.
mod mixed {
    tensorjit::tensor_fn! {
        use shared_layers::{layers::{Dense, SLOPE, dense}, model::Mlp as Network};

        fn activation(x: f32) -> f32 { 1000 * x }

        /// An array of imported structs.
        pub fn deep<B, N>(x: f32[B, N], layers: [Dense<N, N>; 3]) -> f32[B, N] {
            let mut h = x;
            for layer in layers { h = dense(h, layer); }
            h
        }

        /// A value of an imported struct.
        pub fn first<I, H, O>(network: Network<I, H, O>) -> (Dense<I, H>, f32) {
            (Dense { w: 2 * network.first.w, ..network.first }, activation(SLOPE))
        }
    }
}

/// A function whose derivative has a rule, both from another crate; `turned` here is another function.
mod adversary {
    tensorjit::tensor_fn! {
        use shared_layers::layers::reversed;

        fn turned(x: f32) -> f32 { 1000 * x }

        /// The gradient of the sum of squares through a layer that turns it round.
        pub fn slope<B, N>(x: f32[B, N]) -> f32[B, N] {
            grad(sum(square(reversed(x, turned(0.001)))), x)
        }
    }
}

/// Blocks of one module with private items of one name, the second of which imports from the first.
mod beside {
    tensorjit::tensor_fn! {
        fn factor(x: f32) -> f32 { 2 * x }
        pub fn double(x: f32) -> f32 { factor(x) }

        /// Where it is not, its macro is not either.
        #[cfg(any())]
        pub fn absent(x: f32) -> f32 { x }
    }

    tensorjit::tensor_fn! {
        use self::double;

        fn factor(x: f32) -> f32 { 3 * x }
        pub fn six(x: f32) -> f32 { factor(double(x)) }
        pub fn absent(x: f32) -> f32 { -x }
    }

    macro_rules! scaled {
        ($name:ident, $factor:literal, $twice:path) => {
            tensorjit::tensor_fn! {
                use $twice as twice;

                fn factor(x: f32) -> f32 { $factor * twice(x) / 2 }
                pub(crate) fn $name(x: f32) -> f32 { factor(x) }
            }
        };
    }
    scaled!(four, 4, self::double);
    scaled!(five, 5, crate::beside::double);
}

fn model() -> Mlp {
    Mlp {
        first: Dense { w: array![[1.0, -1.0], [0.5, 2.0]], b: array![0.0, 1.0] },
        last: Dense { w: array![[2.0], [-3.0]], b: array![0.5] },
    }
}

fn leak(x: f32) -> f32 {
    x.max(0.25 * x)
}

/// The value of the model by its formula.
fn value([a, b]: [f32; 2]) -> f32 {
    let (h, k) = (leak(a + 0.5 * b), leak(2.0 * b - a + 1.0));
    leak(2.0 * h - 3.0 * k + 0.5)
}

const INPUTS: [[f32; 2]; 3] = [[1.0, 2.0], [-3.0, 0.25], [0.5, -1.0]];

#[test]
fn imported_layers_have_their_own_names() {
    let y = mlp(&INPUTS, &model()).unwrap();
    let expected = Array2::from_shape_fn((3, 1), |(row, _)| value(INPUTS[row]));
    assert_eq!(y, expected);
    // The block of `scales` has a `HALF` of its own.
    assert_eq!(scales(&[1.0_f32, -2.0]).unwrap(), array![100.5, -201.0]);
}

#[test]
fn structs_are_the_same_types_in_every_crate() {
    let targets = array![[1.0], [0.0], [-1.0]];
    let slope: Mlp = training::slope(&INPUTS, &targets, &model()).unwrap();
    let mut changed = model();
    let loss = training::step(&INPUTS, &targets, &mut changed, 0.5).unwrap();
    let errors = INPUTS.iter().zip(&targets).map(|(x, y)| (value(*x) - y).powi(2));
    let expected = 0.5 * errors.sum::<f32>() / 3.0;
    assert!((loss - expected).abs() < 1e-6 * expected, "{loss} {expected}");
    for (((name, new), (_, old)), (_, slope)) in
        changed.leaves().into_iter().zip(model().leaves()).zip(slope.leaves())
    {
        let (Leaf::F32(new), Leaf::F32(old), Leaf::F32(slope)) = (new, old, slope) else { panic!("{name}") };
        assert!((&new - &(&old - &(&slope * 0.5))).iter().all(|d| d.abs() < 1e-6), "{name}");
        assert!(slope.iter().any(|d| *d != 0.0), "{name}");
    }
}

#[test]
fn names_of_several_blocks_do_not_meet() {
    let layer = model().first;
    let layers = [layer.clone(), layer.clone(), layer];
    let y = mixed::deep(&INPUTS, &layers).unwrap();
    let step = |[a, b]: [f32; 2]| [leak(a + 0.5 * b), leak(2.0 * b - a + 1.0)];
    let expected = Array2::from_shape_fn((3, 2), |(row, axis)| step(step(step(INPUTS[row])))[axis]);
    assert_eq!(y, expected);
    let (first, scale): (Dense, f32) = mixed::first(&model()).unwrap();
    assert_eq!(first.w, 2.0 * model().first.w);
    assert_eq!(first.b, Array1::from(vec![0.0, 1.0]));
    assert_eq!(scale, 250.0);
}

#[test]
fn blocks_of_one_module_stand_apart() {
    // A block in a function imports, too.
    tensorjit::tensor_fn! {
        use crate::beside::{absent, five, four, six};

        fn factor(x: f32) -> f32 { 10 * x }
        pub fn all(x: f32) -> (f32, f32) { (factor(six(x)) + five(four(x)), absent(x)) }
    }
    assert_eq!(all(1.0).unwrap(), (80.0, -1.0));
    assert_eq!([beside::double(1.0).unwrap(), beside::six(1.0).unwrap()], [2.0, 6.0]);
    assert_eq!([beside::four(1.0).unwrap(), beside::five(1.0).unwrap()], [4.0, 5.0]);
}

#[test]
fn rules_of_derivatives_are_imported_with_their_functions() {
    let x = array![[1.0_f32, -2.0], [0.5, 4.0]];
    // Half of the cotangent `2 * x`, turned round.
    assert_eq!(adversary::slope(&x).unwrap(), -x);
}
