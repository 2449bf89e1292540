//! Layers that blocks of this crate and of another one import: `tests/sharing.rs` is that other one.

#![deny(warnings)]

/// Layers without a model.
pub mod layers {
    tj::tensor_fn! {
        /// The slope below zero.
        pub const SLOPE: f32 = 0.25;

        const HALF: f32 = SLOPE * 2;

        /// An affine map.
        pub struct Dense<I, O> {
            /// The weights.
            w: f32[I, O],
            /// The bias.
            b: f32[O],
        }

        fn activation<T: float, ..S>(x: T[..S], slope: T) -> T[..S] {
            maximum(x, slope * x)
        }

        /// A layer.
        pub fn dense<B, I, O>(x: f32[B, I], layer: Dense<I, O>) -> f32[B, O] {
            activation(x @ layer.w + layer.b, SLOPE)
        }

        /// Half the mean of the squares.
        pub fn half_mse<B, N>(x: f32[B, N], y: f32[B, N]) -> f32 {
            HALF * mse(x, y)
        }

        /// The same tensor, whose gradient turns round: what comes before learns against what comes after.
        #[vjp(turned)]
        pub fn reversed<B, N>(x: f32[B, N], rate: f32) -> f32[B, N] {
            x + 0 * rate
        }

        fn turned<B, N>(x: f32[B, N], rate: f32, y: f32[B, N], cotangent: f32[B, N]) -> (f32[B, N], f32) {
            (-HALF * rate * cotangent, 0 * sum(x * y))
        }

        /// A function whose name means something else where it is imported.
        pub(crate) fn scaled<N>(x: f32[N]) -> f32[N] {
            HALF * x
        }
    }
}

/// A model of these layers, in a block that stands before none of what it names.
pub mod model {
    tj::tensor_fn! {
        use super::layers::{Dense as Layer, dense};
        use crate::layers::scaled;

        /// What `scaled` would find, were it read here.
        const HALF: f32 = 100;

        /// Two layers.
        pub struct Mlp<I, H, O> {
            /// The first.
            first: Layer<I, H>,
            /// The second.
            last: Layer<H, O>,
        }

        /// The value of a model.
        pub fn mlp<B, I, H, O>(x: f32[B, I], model: Mlp<I, H, O>) -> f32[B, O] {
            dense(dense(x, model.first), model.last)
        }

        /// A hundred and a half of it.
        pub fn scales<N>(x: f32[N]) -> f32[N] {
            HALF * x + scaled(x)
        }

        pub use self::super::layers::half_mse as loss;
    }
}
