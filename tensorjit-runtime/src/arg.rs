//! What a compiled function accepts, and the plain description that everything behind it works on.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use ndarray::{ArrayBase, ArrayRef, ArrayView, ArrayViewMut, Data, DataMut, Dimension, Ix1, Ix2, Ix3, Ix4};

use crate::abi::DType;
use crate::elements::for_elements;

/// The highest rank of an argument or a result.
pub const MAX_RANK: usize = 6;

mod sealed {
    pub trait Element {}
    pub trait Arg<T, D> {}
    pub trait ArgMut<T, D> {}
}

/// An element type of tensors: `f32`, `f64`, `bool`, the integers of 8 to 64 bits, signed and not, and with the feature
/// `half` its `f16` and `bf16`.
pub trait Element: sealed::Element + Copy + 'static {
    /// Its description.
    const DTYPE: DType;
}

macro_rules! elements {
    ($($variant:ident: $rust:ty,)*) => { $(
        impl sealed::Element for $rust {}
        impl Element for $rust {
            const DTYPE: DType = DType::$variant;
        }
    )* };
}
for_elements!(elements);

/// Where an argument lies: address, extents, strides, element type.
///
/// It can only be made from a live reference of lifetime `'a`, or is a description that its maker vouched for.
/// Only the places of its axes are initialised, as a call makes one for each argument.
#[derive(Clone, Copy, Debug)]
pub struct ArgView<'a> {
    pub(crate) data: *mut u8,
    pub(crate) dtype: DType,
    rank: u8,
    /// Whether it has elements, and these lie in row-major order without gaps; found out where it is made, as the rank
    /// is known there.
    pub(crate) plain: bool,
    pub(crate) shape: [MaybeUninit<usize>; MAX_RANK],
    strides: [MaybeUninit<isize>; MAX_RANK],
    life: PhantomData<&'a ()>,
}

impl<'a> ArgView<'a> {
    /// Of nothing: a place that is filled before the call.
    #[inline]
    pub const fn unfilled() -> ArgView<'a> {
        ArgView {
            data: std::ptr::null_mut(),
            dtype: DType::Bool,
            rank: 0,
            plain: true,
            shape: [const { MaybeUninit::uninit() }; MAX_RANK],
            strides: [const { MaybeUninit::uninit() }; MAX_RANK],
            life: PhantomData,
        }
    }

    /// A scalar that is read.
    #[inline]
    pub fn scalar<T: Element>(value: &'a T) -> ArgView<'a> {
        ArgView::dense((&raw const *value).cast_mut(), &[])
    }

    /// A scalar that is written, or read and written.
    #[inline]
    pub fn scalar_mut<T: Element>(value: &'a mut T) -> ArgView<'a> {
        ArgView::dense(value, &[])
    }

    /// Elements at `data`, with strides counted in elements.
    ///
    /// # Safety
    ///
    /// `shape` and `strides` have one length, at most [`MAX_RANK`]. Every element that they address is live and
    /// initialised for `'a`; a view that is handed over as state or output has exclusive access to its elements,
    /// no two indices of it address the same one, and outputs need not be initialised.
    pub unsafe fn from_raw(data: *mut u8, dtype: DType, shape: &[usize], strides: &[isize]) -> ArgView<'a> {
        ArgView::strided(data, dtype, shape, strides)
    }

    /// The extents.
    #[inline]
    pub fn shape(&self) -> &[usize] {
        // SAFETY: the rank is at most `MAX_RANK`, and the places of all axes are initialised.
        unsafe { std::slice::from_raw_parts(self.shape.as_ptr().cast(), usize::from(self.rank)) }
    }

    /// Distances between neighbours along each axis, in elements.
    #[inline]
    pub fn strides(&self) -> &[isize] {
        // SAFETY: as for the shape.
        unsafe { std::slice::from_raw_parts(self.strides.as_ptr().cast(), usize::from(self.rank)) }
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    #[inline]
    fn strided(data: *mut u8, dtype: DType, shape: &[usize], strides: &[isize]) -> ArgView<'a> {
        let rank = shape.len().min(strides.len()).min(MAX_RANK);
        let mut view = MaybeUninit::<ArgView<'a>>::uninit();
        let to = view.as_mut_ptr();
        // Elements that lie side by side are in memory, so that their number does not overflow.
        let (mut product, mut plain) = (1_usize, true);
        for axis in (0..rank).rev() {
            let (extent, stride) = (shape[axis], strides[axis]);
            // SAFETY: the axis is below `MAX_RANK`.
            unsafe {
                (&raw mut (*to).shape[axis]).write(MaybeUninit::new(extent));
                (&raw mut (*to).strides[axis]).write(MaybeUninit::new(stride));
            }
            plain &= (extent == 1) | (stride == product as isize);
            product = product.wrapping_mul(extent);
        }
        // SAFETY: every field has been written, but for places of axes beyond the rank, which may be uninitialised.
        unsafe {
            (&raw mut (*to).data).write(data);
            (&raw mut (*to).dtype).write(dtype);
            (&raw mut (*to).rank).write(rank as u8);
            (&raw mut (*to).plain).write(plain & (product != 0));
            view.assume_init()
        }
    }

    /// Row-major without gaps.
    #[inline]
    fn dense<T: Element>(data: *mut T, shape: &[usize]) -> ArgView<'a> {
        let mut strides = [0; MAX_RANK];
        let mut stride = 1_isize;
        for (axis, extent) in shape.iter().enumerate().rev() {
            strides[axis] = stride;
            // A wrong stride is never used: a product that overflows is possible only where an extent is zero.
            stride = stride.wrapping_mul(*extent as isize);
        }
        ArgView::strided(data.cast(), T::DTYPE, shape, &strides[..shape.len()])
    }
}

/// What can be read as a tensor of element type `T` and dimension `D`: references to arrays and array
/// references of `ndarray` of any storage, views, slices, vectors and (nested) Rust arrays; any strides.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed as a tensor of `{T}` with dimension `{D}`",
    label = "expected a reference to a tensor of `{T}` with dimension `{D}`",
    note = "pass `&array`, `array.view()`, a slice (rank 1) or a reference to a (nested) Rust array; element type and \
            rank must be exactly those of the parameter"
)]
pub trait Arg<'a, T: Element, D: Dimension>: sealed::Arg<T, D> {
    /// Its description.
    #[doc(hidden)]
    fn describe(self) -> ArgView<'a>;
}

/// What can be written as a tensor of element type `T` and dimension `D`: the mutable counterparts of [`Arg`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed as a mutable tensor of `{T}` with dimension `{D}`",
    label = "expected a mutable reference to a tensor of `{T}` with dimension `{D}`",
    note = "pass `&mut array`, `array.view_mut()`, a mutable slice (rank 1) or a mutable reference to a (nested) Rust \
            array; element type and rank must be exactly those of the parameter"
)]
pub trait ArgMut<'a, T: Element, D: Dimension>: sealed::ArgMut<T, D> {
    /// Its description.
    #[doc(hidden)]
    fn describe_mut(self) -> ArgView<'a>;
}

/// One row per form: generics, the type, its dimension, and how to describe it.
macro_rules! accept {
    ($($trait:ident::$method:ident [$($generics:tt)*] $ty:ty, $dim:ty, |$this:ident| $view:expr;)*) => { $(
        impl<'a, T: Element, $($generics)*> sealed::$trait<T, $dim> for $ty {}
        impl<'a, T: Element, $($generics)*> $trait<'a, T, $dim> for $ty {
            #[inline]
            fn $method(self) -> ArgView<'a> {
                let $this = self;
                $view
            }
        }
    )* };
}

accept! {
    Arg::describe [S: Data<Elem = T>, D: Dimension] &'a ArrayBase<S, D>, D,
        |a| ArgView::strided(a.as_ptr().cast_mut().cast(), T::DTYPE, a.shape(), a.strides());
    Arg::describe [D: Dimension] &'a ArrayRef<T, D>, D,
        |a| ArgView::strided(a.as_ptr().cast_mut().cast(), T::DTYPE, a.shape(), a.strides());
    Arg::describe [D: Dimension] ArrayView<'a, T, D>, D,
        |a| ArgView::strided(a.as_ptr().cast_mut().cast(), T::DTYPE, a.shape(), a.strides());
    Arg::describe [] &'a [T], Ix1, |a| ArgView::dense(a.as_ptr().cast_mut(), &[a.len()]);
    Arg::describe [] &'a Vec<T>, Ix1, |a| ArgView::dense(a.as_ptr().cast_mut(), &[a.len()]);
    Arg::describe [const N: usize] &'a [T; N], Ix1, |a| ArgView::dense(a.as_ptr().cast_mut(), &[N]);
    Arg::describe [const N: usize] &'a [[T; N]], Ix2,
        |a| ArgView::dense(a.as_ptr().cast_mut().cast::<T>(), &[a.len(), N]);
    Arg::describe [const N: usize] &'a Vec<[T; N]>, Ix2,
        |a| ArgView::dense(a.as_ptr().cast_mut().cast::<T>(), &[a.len(), N]);
    Arg::describe [const M: usize, const N: usize] &'a [[T; N]; M], Ix2,
        |a| ArgView::dense(a.as_ptr().cast_mut().cast::<T>(), &[M, N]);
    Arg::describe [const L: usize, const M: usize, const N: usize] &'a [[[T; N]; M]; L], Ix3,
        |a| ArgView::dense(a.as_ptr().cast_mut().cast::<T>(), &[L, M, N]);
    Arg::describe [const K: usize, const L: usize, const M: usize, const N: usize] &'a [[[[T; N]; M]; L]; K], Ix4,
        |a| ArgView::dense(a.as_ptr().cast_mut().cast::<T>(), &[K, L, M, N]);

    ArgMut::describe_mut [S: DataMut<Elem = T>, D: Dimension] &'a mut ArrayBase<S, D>, D,
        |a| ArgView::strided(a.as_mut_ptr().cast(), T::DTYPE, a.shape(), a.strides());
    ArgMut::describe_mut [D: Dimension] &'a mut ArrayRef<T, D>, D,
        |a| ArgView::strided(a.as_mut_ptr().cast(), T::DTYPE, a.shape(), a.strides());
    ArgMut::describe_mut [D: Dimension] ArrayViewMut<'a, T, D>, D, |a| {
        let mut a = a;
        ArgView::strided(a.as_mut_ptr().cast(), T::DTYPE, a.shape(), a.strides())
    };
    ArgMut::describe_mut [] &'a mut [T], Ix1, |a| ArgView::dense(a.as_mut_ptr(), &[a.len()]);
    ArgMut::describe_mut [] &'a mut Vec<T>, Ix1, |a| ArgView::dense(a.as_mut_ptr(), &[a.len()]);
    ArgMut::describe_mut [const N: usize] &'a mut [T; N], Ix1, |a| ArgView::dense(a.as_mut_ptr(), &[N]);
    ArgMut::describe_mut [const N: usize] &'a mut [[T; N]], Ix2,
        |a| ArgView::dense(a.as_mut_ptr().cast::<T>(), &[a.len(), N]);
    ArgMut::describe_mut [const N: usize] &'a mut Vec<[T; N]>, Ix2,
        |a| ArgView::dense(a.as_mut_ptr().cast::<T>(), &[a.len(), N]);
    ArgMut::describe_mut [const M: usize, const N: usize] &'a mut [[T; N]; M], Ix2,
        |a| ArgView::dense(a.as_mut_ptr().cast::<T>(), &[M, N]);
    ArgMut::describe_mut [const L: usize, const M: usize, const N: usize] &'a mut [[[T; N]; M]; L], Ix3,
        |a| ArgView::dense(a.as_mut_ptr().cast::<T>(), &[L, M, N]);
    ArgMut::describe_mut [const K: usize, const L: usize, const M: usize, const N: usize]
        &'a mut [[[[T; N]; M]; L]; K], Ix4,
        |a| ArgView::dense(a.as_mut_ptr().cast::<T>(), &[K, L, M, N]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array, Array2, ArrayD, CowArray, arr0, array, s};

    fn described<'a, T: Element, D: Dimension>(arg: impl Arg<'a, T, D>) -> (Vec<usize>, Vec<isize>, DType) {
        let view = arg.describe();
        (view.shape().to_vec(), view.strides().to_vec(), view.dtype())
    }

    fn described_mut<'a, T: Element, D: Dimension>(arg: impl ArgMut<'a, T, D>) -> (Vec<usize>, Vec<isize>) {
        let view = arg.describe_mut();
        (view.shape().to_vec(), view.strides().to_vec())
    }

    #[test]
    fn every_form_is_described() {
        let a: Array2<f32> = Array::zeros((2, 3));
        let shared = a.to_shared();
        let cow = CowArray::from(&a);
        let dense = (vec![2, 3], vec![3, 1], DType::F32);
        assert_eq!(described(&a), dense);
        assert_eq!(described(a.view()), dense);
        assert_eq!(described(&a.view()), dense);
        assert_eq!(described(&shared), dense);
        assert_eq!(described(&cow), dense);
        assert_eq!(described::<f32, Ix2>(&*a), dense);
        assert_eq!(described(&[[0.0_f32; 3]; 2]), dense);
        assert_eq!(described(&vec![[0.0_f32; 3]; 2]), dense);
        assert_eq!(described(&[[0.0_f32; 3]; 2][..]), dense);
        assert_eq!(described(a.t()), (vec![3, 2], vec![1, 3], DType::F32));
        assert_eq!(described(a.slice(s![..;-1, 1..])), (vec![2, 2], vec![-3, 1], DType::F32));
        assert_eq!(described(arr0(1_i32).broadcast(4).unwrap()), (vec![4], vec![0], DType::I32));
        assert_eq!(described(&[1_i64, 2][..]), (vec![2], vec![1], DType::I64));
        assert_eq!(described(&vec![true; 5]), (vec![5], vec![1], DType::Bool));
        assert_eq!(described(&[1.0_f64, 2.0]), (vec![2], vec![1], DType::F64));
        assert_eq!(described(&[[[1_i32; 4]; 3]; 2]), (vec![2, 3, 4], vec![12, 4, 1], DType::I32));
        assert_eq!(described(&[[[[1_i32; 5]; 4]; 3]; 2]).0, [2, 3, 4, 5]);
        assert_eq!(
            described(&ArrayD::<f32>::zeros(vec![1; 4]).into_dimensionality::<Ix4>().unwrap()).0,
            [1; 4]
        );
    }

    #[test]
    fn every_mutable_form_is_described() {
        let mut a: Array2<f32> = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
        let dense = (vec![2, 3], vec![3, 1]);
        assert_eq!(described_mut(&mut a), dense);
        assert_eq!(described_mut(a.view_mut()), dense);
        assert_eq!(described_mut(&mut a.view_mut()), dense);
        assert_eq!(described_mut::<f32, Ix2>(&mut *a), dense);
        assert_eq!(described_mut(&mut a.to_shared()), dense);
        assert_eq!(described_mut(&mut [[0_i32; 3]; 2]), dense);
        assert_eq!(described_mut(&mut vec![[0_i32; 3]; 2]), dense);
        assert_eq!(described_mut(&mut [[0_i32; 3]; 2][..]), dense);
        assert_eq!(described_mut(a.view_mut().reversed_axes()), (vec![3, 2], vec![1, 3]));
        assert_eq!(described_mut(&mut [false; 3]), (vec![3], vec![1]));
        assert_eq!(described_mut(&mut vec![0_i64; 3]), (vec![3], vec![1]));
        assert_eq!(described_mut(&mut vec![0_i64; 3][..]), (vec![3], vec![1]));
        assert_eq!(described_mut(&mut [[[0_i64; 4]; 3]; 2]).0, [2, 3, 4]);
        assert_eq!(described_mut(&mut [[[[0_i64; 5]; 4]; 3]; 2]).0, [2, 3, 4, 5]);
    }

    #[test]
    fn scalars_have_no_axes() {
        let mut value = 2.0_f64;
        assert!(ArgView::scalar(&value).shape().is_empty());
        assert_eq!(ArgView::scalar_mut(&mut value).dtype(), DType::F64);
    }
}
