//! Copies between strided and dense memory, and walks over strided memory.

use crate::arg::{ArgView, MAX_RANK};

/// Which way a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From the view into dense memory.
    Gather,
    /// From dense memory into the view.
    Scatter,
}

/// Extent of the square tiles in which transposed memory is copied: a tile of eight-byte elements fits the
/// first cache beside its mirror image.
const TILE: usize = 32;

/// What shape and strides say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Survey {
    /// The number of elements.
    pub(crate) len: usize,
    /// Whether they lie in row-major order without gaps.
    pub(crate) dense: bool,
}

impl ArgView<'_> {
    /// The number of elements; `None` where the non-zero extents multiply to more bytes than memory can hold.
    #[inline]
    pub(crate) fn len(&self) -> Option<usize> {
        self.survey().map(|survey| survey.len)
    }

    /// Whether its elements lie in row-major order without gaps.
    #[inline]
    pub(crate) fn is_dense(&self) -> bool {
        self.survey().is_some_and(|survey| survey.dense)
    }

    /// Both in one pass.
    #[inline]
    pub(crate) fn survey(&self) -> Option<Survey> {
        let (mut product, mut empty, mut dense) = (1_usize, false, true);
        for (&extent, &stride) in self.shape().iter().zip(self.strides()).rev() {
            // The product is the stride of a row-major order; it is at most `isize::MAX`, or there is no survey.
            dense &= extent == 1 || stride == product as isize;
            empty |= extent == 0;
            product = product.checked_mul(extent.max(1))?;
        }
        isize::try_from(product.checked_mul(self.dtype.size())?).ok()?;
        Some(Survey { len: if empty { 0 } else { product }, dense: dense | empty })
    }

    /// Copies all elements between the view and `dense`.
    ///
    /// # Safety
    ///
    /// The view addresses live elements; `dense` has room for all of them, aligned for the element type, and
    /// overlaps none of them; what is read is initialised, what is written may be written.
    pub(crate) unsafe fn copy(&self, dense: *mut u8, direction: Direction) {
        // Elements are copied as integers of their size: their bits matter, not their meaning.
        // SAFETY: the caller's promise, and the integers have the size and alignment of the elements.
        unsafe {
            match self.dtype.size() {
                1 => Copier::<u8>::new(self, dense, direction).run(),
                2 => Copier::<u16>::new(self, dense.cast(), direction).run(),
                4 => Copier::<u32>::new(self, dense.cast(), direction).run(),
                _ => Copier::<u64>::new(self, dense.cast(), direction).run(),
            }
        }
    }

    /// Calls `visit` with the index of each row's first element and the row's offset in elements, in row-major
    /// order, until it returns true.  Rows run along the last axis.
    pub(crate) fn find_row(&self, mut visit: impl FnMut(&[usize], isize) -> bool) -> bool {
        let axes = self.shape().len().saturating_sub(1);
        if self.shape().contains(&0) {
            return false;
        }
        let mut rows = Odometer::new(&self.shape()[..axes]);
        loop {
            let offset = rows.offset(self.strides());
            if visit(&rows.index[..axes], offset) {
                return true;
            }
            if !rows.advance() {
                return false;
            }
        }
    }
}

/// Counts through all indices of a shape in row-major order.
struct Odometer<'s> {
    shape: &'s [usize],
    index: [usize; MAX_RANK],
}

impl<'s> Odometer<'s> {
    fn new(shape: &'s [usize]) -> Odometer<'s> {
        Odometer { shape, index: [0; MAX_RANK] }
    }

    fn offset(&self, strides: &[isize]) -> isize {
        self.index.iter().zip(strides).take(self.shape.len()).map(|(&i, &stride)| i as isize * stride).sum()
    }

    /// Moves to the next index; false after the last one.
    fn advance(&mut self) -> bool {
        for (axis, &extent) in self.shape.iter().enumerate().rev() {
            self.index[axis] += 1;
            if self.index[axis] < extent {
                return true;
            }
            self.index[axis] = 0;
        }
        false
    }
}

/// One copy, its axes in an order that suits both sides.
struct Copier<E> {
    strided: *mut E,
    dense: *mut E,
    direction: Direction,
    /// Extents: outer axes, then the two axes that are tiled.
    shape: [usize; MAX_RANK],
    near: [isize; MAX_RANK],
    far: [isize; MAX_RANK],
}

impl<E: Copy> Copier<E> {
    fn new(view: &ArgView<'_>, dense: *mut E, direction: Direction) -> Copier<E> {
        let mut axes = [(1, 0, 0); MAX_RANK];
        let mut stride = 1_isize;
        let rank = view.shape().len();
        for (axis, (&extent, &near)) in view.shape().iter().zip(view.strides()).enumerate().rev() {
            axes[axis] = (extent, near, stride);
            stride = stride.wrapping_mul(extent as isize);
        }
        // The last axis is dense on one side; beside it goes the axis that is nearest to dense on the other.
        let last = MAX_RANK - 1;
        axes[rank.saturating_sub(1)..].rotate_left(1);
        if rank > 0 {
            let nearest = (0..last)
                .filter(|&axis| axes[axis].0 > 1)
                .min_by_key(|&axis| axes[axis].1.unsigned_abs())
                .unwrap_or(last - 1);
            axes[nearest..last].rotate_left(1);
        }
        Copier {
            strided: view.data.cast(),
            dense,
            direction,
            shape: axes.map(|(extent, ..)| extent),
            near: axes.map(|(_, strided, _)| strided),
            far: axes.map(|(.., dense)| dense),
        }
    }

    /// # Safety
    ///
    /// That of [`ArgView::copy`].
    unsafe fn run(&self) {
        if self.shape.contains(&0) {
            return;
        }
        let outer = MAX_RANK - 2;
        let mut index = Odometer::new(&self.shape[..outer]);
        loop {
            // SAFETY: the offsets are those of elements, as every index is below its extent.
            unsafe { self.plane(index.offset(&self.near), index.offset(&self.far)) };
            if !index.advance() {
                return;
            }
        }
    }

    /// Copies the plane of the two last axes.
    ///
    /// # Safety
    ///
    /// The offsets are those of the plane's first element, in both memories.
    unsafe fn plane(&self, near: isize, far: isize) {
        let [rows, columns] = [self.shape[MAX_RANK - 2], self.shape[MAX_RANK - 1]];
        // Rows that are consecutive on both sides need no tiles.
        let width = if self.near[MAX_RANK - 1] == 1 { columns } else { TILE };
        for row in (0..rows).step_by(TILE) {
            for column in (0..columns).step_by(width) {
                for i in row..rows.min(row + TILE) {
                    // SAFETY: `i` and the columns of the tile are below their extents.
                    unsafe { self.row(near, far, i, column..columns.min(column + width)) };
                }
            }
        }
    }

    /// # Safety
    ///
    /// The offsets are those of the plane's first element; row and columns lie in the plane.
    unsafe fn row(&self, near: isize, far: isize, row: usize, columns: std::ops::Range<usize>) {
        let [near_row, near_step] = [self.near[MAX_RANK - 2], self.near[MAX_RANK - 1]];
        let [far_row, far_step] = [self.far[MAX_RANK - 2], self.far[MAX_RANK - 1]];
        let (row, first) = (row as isize, columns.start as isize);
        // SAFETY: these are addresses of elements, by the promise of the caller; likewise in the loop below.
        let (mut strided, mut dense) = unsafe {
            (
                self.strided.offset(near + row * near_row + first * near_step),
                self.dense.offset(far + row * far_row + first * far_step),
            )
        };
        if (near_step, far_step) == (1, 1) {
            let (from, to) = match self.direction {
                Direction::Gather => (strided, dense),
                Direction::Scatter => (dense, strided),
            };
            // SAFETY: both sides are consecutive and apart, by the promise of `ArgView::copy`.
            unsafe { to.copy_from_nonoverlapping(from, columns.len()) };
            return;
        }
        for _ in columns {
            // SAFETY: one side may be read, the other written, by the promise of `ArgView::copy`; the addresses
            // after the last element are not used, so that they may wrap.
            unsafe {
                match self.direction {
                    Direction::Gather => dense.write(strided.read()),
                    Direction::Scatter => strided.write(dense.read()),
                }
            }
            strided = strided.wrapping_offset(near_step);
            dense = dense.wrapping_offset(far_step);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arg::{Arg, ArgMut, Element};
    use ndarray::{Array, Array2, Array3, ArrayView, ArrayViewMut, Dimension, IxDyn, s};

    fn gather<T: Element, D: Dimension>(view: ArrayView<'_, T, D>, fill: T) -> Vec<T> {
        let mut dense = vec![fill; view.len()];
        // SAFETY: the view is live, the vector has its length.
        unsafe { view.clone().describe().copy(dense.as_mut_ptr().cast(), Direction::Gather) };
        dense
    }

    fn check<T: Element + PartialEq + std::fmt::Debug, D: Dimension>(view: ArrayView<'_, T, D>, fill: T) {
        assert_eq!(
            gather(view.view(), fill),
            view.iter().copied().collect::<Vec<_>>(),
            "{:?}",
            view.strides()
        );
        assert_eq!(view.view().describe().is_dense(), view.is_standard_layout(), "{:?}", view.strides());
    }

    #[test]
    fn any_strides_become_dense() {
        let plane = Array::from_shape_fn((67, 41), |(i, j)| (i * 100 + j) as f64);
        check(plane.view(), 0.0);
        check(plane.t(), 0.0);
        check(plane.slice(s![..;-1, ..;2]), 0.0);
        check(plane.slice(s![..;3, ..;-7]), 0.0);
        check(plane.slice(s![3..3, ..]), 0.0);
        check(plane.slice(s![4, ..]), 0.0);
        check(plane.slice(s![.., 4]), 0.0);
        check(plane.slice(s![4..5, ..]).broadcast((9, 41)).unwrap(), 0.0);
        let small = plane.mapv(|x| x as i32 as f32);
        check(small.t(), 0.0);
        check(plane.mapv(|x| x as i64 % 3 == 0).t(), false);
        check(plane.mapv(|x| x as i16).t(), 0);
        check(plane.mapv(|x| x as i64 as u8).slice(s![..;-1, ..;2]), 0);
        let cube: Array3<i32> =
            Array::from_shape_fn((5, 34, 37), |(i, j, k)| (i * 10000 + j * 100 + k) as i32);
        for axes in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            check(cube.view().permuted_axes(axes), 0);
        }
        let six = Array::from_shape_fn(IxDyn(&[2, 3, 2, 3, 2, 3]), |i| {
            i.slice().iter().fold(0, |n, d| n * 10 + *d as i64)
        });
        check(six.view().permuted_axes(IxDyn(&[5, 3, 1, 0, 2, 4])), 0);
        check(ndarray::arr0(5_i64).view(), 0);
    }

    #[test]
    fn dense_becomes_any_strides() {
        let scatter = |mut view: ArrayViewMut<'_, f32, ndarray::Ix2>| {
            let dense: Vec<f32> = (0..view.len()).map(|i| i as f32 + 1.0).collect();
            // SAFETY: the view is live, the vector has its length and is only read.
            unsafe {
                view.view_mut().describe_mut().copy(dense.as_ptr().cast_mut().cast(), Direction::Scatter)
            };
            assert!(view.iter().copied().eq(dense.iter().copied()), "{:?}", view.strides());
        };
        let mut plane: Array2<f32> = Array::zeros((45, 70));
        scatter(plane.view_mut());
        scatter(plane.view_mut().reversed_axes());
        scatter(plane.slice_mut(s![..;-2, ..;3]));
        plane.fill(0.0);
        scatter(plane.slice_mut(s![1..3, 1..3]));
        assert_eq!(plane.sum(), 10.0, "nothing else is written");
    }

    #[test]
    fn rows_are_found_in_order() {
        let cube: Array3<i32> = Array::from_shape_fn((2, 3, 4), |(i, j, k)| (i * 100 + j * 10 + k) as i32);
        let view = cube.slice(s![.., ..;-1, ..]);
        let described = view.describe();
        let mut seen = Vec::new();
        assert!(!described.find_row(|index, offset| {
            seen.push((index.to_vec(), offset));
            false
        }));
        assert_eq!(seen.len(), 6);
        assert_eq!(seen[1], (vec![0, 1], -4));
        assert_eq!(seen[3], (vec![1, 0], 12));
    }

    #[test]
    fn lengths_are_checked() {
        let one = [0_u64; 1];
        for (shape, expected) in [
            (&[3, 4][..], Some(12)),
            (&[], Some(1)),
            (&[0, 5], Some(0)),
            (&[usize::MAX, 0], None),
            (&[1 << 32, 1 << 32], None),
            (&[1 << 60], None),
            (&[1 << 59, 2, 2], None),
            (&[1 << 59], Some(1 << 59)),
        ] {
            // SAFETY: nothing is read through the view.
            let view = unsafe {
                ArgView::from_raw(
                    one.as_ptr().cast_mut().cast(),
                    crate::abi::DType::F64,
                    shape,
                    &[0; 6][..shape.len()],
                )
            };
            assert_eq!(view.len(), expected, "{shape:?}");
        }
    }
}
