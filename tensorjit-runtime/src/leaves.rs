//! Structs of tensors: their leaves in order, to be described for a call, made of results, and walked by name.

use ndarray::{Array, ArrayViewD, ArrayViewMutD, Axis, Dimension};

use crate::abi::{DType, DimExpr};
use crate::arg::{Arg, ArgMut, ArgView};
use crate::dims::eval;
use crate::elements::for_elements;
use crate::outputs::Output;

/// Declares [`Leaf`] and [`LeafMut`].
macro_rules! leaf_enums {
    ($($variant:ident: $rust:ty,)*) => {
        /// A leaf that is read: its elements by their type.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Leaf<'a> {
            $(#[doc = concat!("`", stringify!($rust), "`")]
            $variant(ArrayViewD<'a, $rust>),)*
        }

        /// A leaf that may be written: its elements by their type.
        #[derive(Debug, PartialEq)]
        #[non_exhaustive]
        pub enum LeafMut<'a> {
            $(#[doc = concat!("`", stringify!($rust), "`")]
            $variant(ArrayViewMutD<'a, $rust>),)*
        }

        impl Leaf<'_> {
            /// The element type.
            pub fn dtype(&self) -> DType {
                match self {
                    $(Leaf::$variant(_) => DType::$variant,)*
                }
            }

            /// The extents; none for a scalar.
            pub fn shape(&self) -> &[usize] {
                match self {
                    $(Leaf::$variant(view) => view.shape(),)*
                }
            }
        }

        impl LeafMut<'_> {
            /// The element type.
            pub fn dtype(&self) -> DType {
                match self {
                    $(LeafMut::$variant(_) => DType::$variant,)*
                }
            }

            /// The extents; none for a scalar.
            pub fn shape(&self) -> &[usize] {
                match self {
                    $(LeafMut::$variant(view) => view.shape(),)*
                }
            }
        }
    };
}
for_elements!(leaf_enums);

/// The place of a leaf in the value that is walked: fields and positions from the outside in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path(String);

/// Structs of tensors that `tensor_fn!` has made, and what their fields are made of: tensors, scalars, arrays.
///
/// The methods that a program calls stand on the structs themselves too; the trait is for code that is generic over
/// them.
pub trait Leaves: Sized {
    /// Visits the leaves in order, with their paths below `path`.
    #[doc(hidden)]
    fn walk<'a>(&'a self, path: &mut Path, visit: &mut dyn FnMut(&str, Leaf<'a>));

    /// As [`Leaves::walk`], for leaves that may be written.
    #[doc(hidden)]
    fn walk_mut<'a>(&'a mut self, path: &mut Path, visit: &mut dyn FnMut(&str, LeafMut<'a>));

    /// Describes the leaves in order.
    #[doc(hidden)]
    fn describe_leaves<'a>(&'a self, views: &mut Views<'_, 'a>);

    /// Describes the leaves in order, to be written.
    #[doc(hidden)]
    fn describe_leaves_mut<'a>(&'a mut self, views: &mut Views<'_, 'a>);

    /// A value of the next results.
    #[doc(hidden)]
    fn take(outputs: &mut dyn Iterator<Item = Output>) -> Self;

    /// The leaves in order, each with its name, such as `layers.3.wq`.
    fn leaves(&self) -> Vec<(String, Leaf<'_>)> {
        let mut leaves = Vec::new();
        self.walk(&mut Path::default(), &mut |name, leaf| leaves.push((name.to_owned(), leaf)));
        leaves
    }

    /// As [`Leaves::leaves`], for leaves that may be written.
    fn leaves_mut(&mut self) -> Vec<(String, LeafMut<'_>)> {
        let mut leaves = Vec::new();
        self.walk_mut(&mut Path::default(), &mut |name, leaf| leaves.push((name.to_owned(), leaf)));
        leaves
    }

    /// The value after `change` has seen every leaf with its name.
    fn map(mut self, mut change: impl FnMut(&str, LeafMut<'_>)) -> Self {
        self.walk_mut(&mut Path::default(), &mut |name, leaf| change(name, leaf));
        self
    }
}

impl Path {
    /// Runs `inside` one step further.
    pub fn within<T>(&mut self, step: &str, inside: impl FnOnce(&mut Path) -> T) -> T {
        let outer = self.0.len();
        if outer > 0 {
            self.0.push('.');
        }
        self.0.push_str(step);
        let result = inside(self);
        self.0.truncate(outer);
        result
    }
}

/// The descriptions of a call's arguments as they are collected.
#[derive(Debug)]
pub struct Views<'v, 'a> {
    views: &'v mut [ArgView<'a>],
    next: usize,
}

impl<'v, 'a> Views<'v, 'a> {
    /// Collects into `views`.
    pub fn new(views: &'v mut [ArgView<'a>]) -> Views<'v, 'a> {
        Views { views, next: 0 }
    }

    /// Adds one.
    ///
    /// # Panics
    ///
    /// Beyond the last, which no expansion of the macro does.
    #[inline]
    pub fn push(&mut self, view: ArgView<'a>) {
        self.views[self.next] = view;
        self.next += 1;
    }
}

/// The value of an extent for the dimensions of a struct.
///
/// # Panics
///
/// Where it is negative or too large.
pub fn extent(expr: &DimExpr, dims: &[usize]) -> usize {
    let symbols: Option<Vec<i64>> = dims.iter().map(|dim| i64::try_from(*dim).ok()).collect();
    let value = symbols.and_then(|symbols| eval(expr, &symbols).ok());
    match value.map(usize::try_from) {
        Some(Ok(value)) => value,
        _ => panic!("the extent {} is no length for dimensions {dims:?}", expr.text),
    }
}

/// Tensors and scalars of one element type.
macro_rules! leaves {
    ($($variant:ident: $rust:ty,)*) => { $(
        impl<D: Dimension> Leaves for Array<$rust, D> {
            fn walk<'a>(&'a self, path: &mut Path, visit: &mut dyn FnMut(&str, Leaf<'a>)) {
                visit(&path.0, Leaf::$variant(self.view().into_dyn()));
            }

            fn walk_mut<'a>(&'a mut self, path: &mut Path, visit: &mut dyn FnMut(&str, LeafMut<'a>)) {
                visit(&path.0, LeafMut::$variant(self.view_mut().into_dyn()));
            }

            #[inline]
            fn describe_leaves<'a>(&'a self, views: &mut Views<'_, 'a>) {
                views.push(Arg::<$rust, D>::describe(self));
            }

            #[inline]
            fn describe_leaves_mut<'a>(&'a mut self, views: &mut Views<'_, 'a>) {
                views.push(ArgMut::<$rust, D>::describe_mut(self));
            }

            fn take(outputs: &mut dyn Iterator<Item = Output>) -> Self {
                next(outputs).array()
            }
        }

        impl Leaves for $rust {
            fn walk<'a>(&'a self, path: &mut Path, visit: &mut dyn FnMut(&str, Leaf<'a>)) {
                let view = ndarray::aview0(self);
                visit(&path.0, Leaf::$variant(view.into_dyn()));
            }

            fn walk_mut<'a>(&'a mut self, path: &mut Path, visit: &mut dyn FnMut(&str, LeafMut<'a>)) {
                let view = ndarray::ArrayViewMut::from(std::slice::from_mut(self));
                visit(&path.0, LeafMut::$variant(view.index_axis_move(Axis(0), 0).into_dyn()));
            }

            #[inline]
            fn describe_leaves<'a>(&'a self, views: &mut Views<'_, 'a>) {
                views.push(ArgView::scalar(self));
            }

            #[inline]
            fn describe_leaves_mut<'a>(&'a mut self, views: &mut Views<'_, 'a>) {
                views.push(ArgView::scalar_mut(self));
            }

            fn take(outputs: &mut dyn Iterator<Item = Output>) -> Self {
                next(outputs).scalar()
            }
        }
    )* };
}

for_elements!(leaves);

impl<L: Leaves, const N: usize> Leaves for [L; N] {
    fn walk<'a>(&'a self, path: &mut Path, visit: &mut dyn FnMut(&str, Leaf<'a>)) {
        for (index, element) in self.iter().enumerate() {
            path.within(&index.to_string(), |path| element.walk(path, visit));
        }
    }

    fn walk_mut<'a>(&'a mut self, path: &mut Path, visit: &mut dyn FnMut(&str, LeafMut<'a>)) {
        for (index, element) in self.iter_mut().enumerate() {
            path.within(&index.to_string(), |path| element.walk_mut(path, visit));
        }
    }

    #[inline]
    fn describe_leaves<'a>(&'a self, views: &mut Views<'_, 'a>) {
        self.iter().for_each(|element| element.describe_leaves(views));
    }

    #[inline]
    fn describe_leaves_mut<'a>(&'a mut self, views: &mut Views<'_, 'a>) {
        self.iter_mut().for_each(|element| element.describe_leaves_mut(views));
    }

    fn take(outputs: &mut dyn Iterator<Item = Output>) -> Self {
        std::array::from_fn(|_| L::take(outputs))
    }
}

fn next(outputs: &mut dyn Iterator<Item = Output>) -> Output {
    outputs.next().expect("a result for each leaf")
}
