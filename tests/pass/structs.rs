//! Structs of tensors: plain Rust structs outside, values with fields inside.

#![deny(warnings)]
#![deny(missing_docs)]

use tensorjit::ndarray::{Array1, Array2, array};
use tensorjit::{Leaf, LeafMut, tensor_fn};

tensor_fn! {
    /// How many hidden layers there are.
    pub const DEPTH: i64 = 2;

    /// An affine map.
    #[derive(PartialEq)]
    pub struct Layer<I, O> {
        /// The weights.
        w: f32[I, O],
        /// The bias.
        b: f32[O],
    }

    /// A network with layers of one width.
    pub struct Model<I, H> {
        /// The first layer.
        first: Layer<I, H>,
        /// The others.
        hidden: [Layer<H, H>; DEPTH],
        /// A factor of the result.
        pub scale: f32,
    }

    fn dense<B, I, O>(x: f32[B, I], layer: Layer<I, O>) -> f32[B, O] {
        x @ layer.w + layer.b
    }

    fn forward<B, I, H>(x: f32[B, I], model: Model<I, H>) -> f32[B, H] {
        let mut h = dense(x, model.first);
        for layer in model.hidden {
            h = dense(h, layer);
        }
        model.scale * h
    }

    /// The result of a model.
    pub fn predict<B, I, H>(x: f32[B, I], model: Model<I, H>) -> f32[B, H] {
        forward(x, model)
    }

    /// The gradient of the sum, and its square norm.
    pub fn slope<B, I, H>(x: f32[B, I], model: Model<I, H>) -> (Model<I, H>, f32) {
        let g = grad(sum(forward(x, model)), model);
        (g, sum(square(g)))
    }

    /// A step down.
    pub fn descend<B, I, H>(x: f32[B, I], model: &mut Model<I, H>, rate: f32) -> f32 {
        let loss = sum(forward(x, model));
        model = model - rate * grad(loss, model);
        loss
    }

    /// Changes layers in place, the last of them by name.
    pub fn shift<N>(layers: &mut [Layer<N, N>; 2], by: f32) {
        layers = layers + by;
        layers[-1].b = layers[-1].b * 0;
    }

    /// Two layers of one.
    pub fn pair<I, O>(layer: Layer<I, O>) -> [Layer<I, O>; 2] {
        [layer, Layer { b: layer.b + 1, ..layer }]
    }

    /// What has no argument to know its shape by.
    pub fn unit<I, O>() -> Layer<I, O> {
        Layer { w: ones([I, O]), b: zeros([O]) }
    }
}

fn model() -> Model {
    let layer = |w: Array2<f32>, b: Array1<f32>| Layer { w, b };
    Model {
        first: layer(array![[1.0, 2.0]], array![0.5, -0.5]),
        hidden: [
            layer(array![[1.0, 0.0], [0.0, 1.0]], array![1.0, 1.0]),
            layer(array![[2.0, 0.0], [0.0, 3.0]], array![0.0, 0.0]),
        ],
        scale: 2.0,
    }
}

fn main() {
    let (x, model) = (array![[1.0_f32], [2.0]], model());
    // (x * [1, 2] + [0.5, -0.5] + 1) * [2, 3] * 2
    let expected = array![[10.0_f32, 15.0], [14.0, 27.0]];
    assert_eq!(predict(&x, &model).unwrap(), expected);

    let (gradient, norm) = slope(&x, &model).unwrap();
    // Both rows by the diagonal and the factor.
    assert_eq!(gradient.first.b, array![8.0, 12.0]);
    assert_eq!(gradient.first.w, array![[12.0, 18.0]]);
    assert_eq!(gradient.scale, expected.sum() / 2.0);
    let mut squares = 0.0;
    for (_, leaf) in gradient.leaves() {
        let Leaf::F32(leaf) = leaf else { unreachable!() };
        squares += leaf.iter().map(|x| x * x).sum::<f32>();
    }
    assert_eq!(norm, squares);

    let mut moved = model.clone();
    assert_eq!(descend(&x, &mut moved, 0.5).unwrap(), 66.0);
    assert_eq!(moved.first.b, array![0.5 - 4.0, -0.5 - 6.0]);
    assert_eq!(moved.scale, 2.0 - 0.5 * 33.0);

    let mut layers = moved.hidden.clone();
    shift(&mut layers, 1.0).unwrap();
    assert_eq!(layers[0].b, &moved.hidden[0].b + 1.0);
    assert_eq!(layers[1].b, array![0.0, 0.0]);
    let [same, other] = pair(&layers[0]).unwrap();
    assert!(same == layers[0] && other.b == &layers[0].b + 1.0);

    let dims = unit::Dims { I: 1, O: 2 };
    assert_eq!(unit::with_dims(dims).unwrap().w, array![[1.0, 1.0]]);
    let mut into = Layer::zeros(3, 2);
    unit::into(&mut into).unwrap();
    assert_eq!(into.w, Array2::<f32>::ones((3, 2)));

    let zeros = Model::zeros(1, 2);
    let names: Vec<String> = zeros.leaves().into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        ["first.w", "first.b", "hidden.0.w", "hidden.0.b", "hidden.1.w", "hidden.1.b", "scale"]
    );
    assert_eq!(zeros.hidden[1].w.dim(), (2, 2));
    let filled = zeros.map(|name, leaf| {
        if let (true, LeafMut::F32(mut leaf)) = (name.ends_with('b'), leaf) {
            leaf.fill(7.0);
        }
    });
    assert_eq!((filled.hidden[0].b[1], filled.first.w[(0, 0)], filled.scale), (7.0, 0.0, 0.0));

    let mut wrong = model.clone();
    wrong.hidden[1].b = array![1.0];
    let error = predict(&x, &wrong).unwrap_err();
    assert_eq!(
        error.to_string(),
        "predict: argument `model.hidden[1].b`, axis 0: expected H = 2 (from `model.first.w`, axis 1), found 1"
    );
    let before = wrong.clone();
    assert!(descend(&x, &mut wrong, 0.5).is_err());
    assert_eq!(wrong.first, before.first);
}
