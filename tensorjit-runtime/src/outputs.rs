//! Results that the runtime allocates.

use std::alloc::{Layout, alloc, dealloc};

use ndarray::{Array, Dimension};

use crate::abi::{DType, Param};
use crate::arg::{ArgView, Element, MAX_RANK};
use crate::dims::{NoValue, eval};
use crate::fault::{Axis, Fault};

/// One result: the caller makes it empty, [`crate::call::call_new`] gives it memory and a value, and the caller
/// takes that out.
#[derive(Debug)]
pub struct Output {
    dtype: DType,
    rank: usize,
    shape: [usize; MAX_RANK],
    /// The address of the elements of a tensor that is not empty; null before.
    data: *mut u8,
    bytes: usize,
    /// The element of a scalar.
    scalar: u64,
}

impl Output {
    /// Without a value.
    pub const fn new() -> Output {
        Output {
            dtype: DType::Bool,
            rank: 0,
            shape: [0; MAX_RANK],
            data: std::ptr::null_mut(),
            bytes: 0,
            scalar: 0,
        }
    }

    /// Gives it the shape of `param` and memory for it, not initialised.
    pub(crate) fn allocate(&mut self, index: usize, param: &Param, symbols: &[i64]) -> Result<(), Fault> {
        *self = Output { dtype: param.dtype, rank: param.shape.len().min(MAX_RANK), ..Output::new() };
        for (axis, (expr, extent)) in param.shape.iter().zip(&mut self.shape).enumerate() {
            let at = Axis { param: index, axis };
            *extent = match eval(expr, symbols) {
                Ok(value) => usize::try_from(value).map_err(|_| Fault::Negative { at, value })?,
                Err(NoValue::Overflow | NoValue::Unknown) => return Err(Fault::AxisOverflow { at }),
            };
        }
        if self.rank == 0 {
            return Ok(());
        }
        // SAFETY: nothing is read through this view.
        let view = unsafe {
            ArgView::from_raw(self.data, self.dtype, &self.shape[..self.rank], &[0; MAX_RANK][..self.rank])
        };
        let bytes = view.len().ok_or(Fault::Size { param: index })? * self.dtype.size();
        if bytes > 0 {
            let layout = self.layout(bytes).ok_or(Fault::Size { param: index })?;
            // SAFETY: the size is not zero.
            self.data = unsafe { alloc(layout) };
            if self.data.is_null() {
                return Err(Fault::Memory { bytes });
            }
            self.bytes = bytes;
        }
        Ok(())
    }

    /// Where a kernel writes it.
    pub(crate) fn address(&mut self) -> *mut u8 {
        match (self.rank, self.bytes) {
            (0, _) => (&raw mut self.scalar).cast(),
            // Dangling, and aligned for every element type.
            (_, 0) => std::ptr::NonNull::<u64>::dangling().as_ptr().cast(),
            _ => self.data,
        }
    }

    /// The value of a scalar result.
    ///
    /// # Panics
    ///
    /// If it is no scalar of this type, which no expansion of the macro does.
    pub fn scalar<T: Element>(self) -> T {
        assert!(self.dtype == T::DTYPE && self.rank == 0, "a result is taken as another type");
        // SAFETY: the element type is that of the value; a kernel has written it, or it is zero, which is a value
        // of every element type.
        unsafe { (&raw const self.scalar).cast::<T>().read() }
    }

    /// The value of a tensor result.
    ///
    /// # Panics
    ///
    /// If it is no tensor of this type, or has no value, which no expansion of the macro does.
    pub fn array<T: Element, D: Dimension>(mut self) -> Array<T, D> {
        let shape = &self.shape[..self.rank];
        let fits = self.dtype == T::DTYPE && D::NDIM.is_none_or(|rank| rank == self.rank) && self.rank > 0;
        assert!(fits && (self.bytes > 0 || shape.contains(&0)), "a result is taken as another type");
        let mut dimension = D::zeros(self.rank);
        dimension.slice_mut().copy_from_slice(shape);
        let length = std::mem::take(&mut self.bytes) / T::DTYPE.size();
        let elements = if length == 0 {
            Vec::new()
        } else {
            // SAFETY: the memory was allocated by the global allocator with the layout of an array of this many
            // elements, a kernel has initialised it, and taking `bytes` has given up its ownership here.
            unsafe { Vec::from_raw_parts(self.data.cast::<T>(), length, length) }
        };
        // The extents were checked to multiply to this length when the memory was allocated.
        Array::from_shape_vec(dimension, elements).expect("the shape has the length of its memory")
    }

    fn layout(&self, bytes: usize) -> Option<Layout> {
        Layout::from_size_align(bytes, self.dtype.size()).ok()
    }
}

impl Default for Output {
    fn default() -> Output {
        Output::new()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if self.bytes > 0
            && let Some(layout) = self.layout(self.bytes)
        {
            // SAFETY: it owns this memory, which was allocated with this layout.
            unsafe { dealloc(self.data, layout) };
        }
    }
}
