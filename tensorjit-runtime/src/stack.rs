//! A short list that lives on the stack, and on the heap only where it is long.

use std::ops::{Deref, DerefMut};

/// A list of fixed length; up to `N` items need no allocation.
pub(crate) struct Stack<T, const N: usize> {
    inline: [T; N],
    heap: Vec<T>,
    len: usize,
}

impl<T: Copy, const N: usize> Stack<T, N> {
    /// `len` times `value`; the number of bytes that memory lacks where it is long.
    pub(crate) fn filled(value: T, len: usize) -> Result<Stack<T, N>, usize> {
        let mut heap = Vec::new();
        if len > N {
            heap.try_reserve_exact(len).map_err(|_| len.saturating_mul(size_of::<T>()))?;
            heap.resize(len, value);
        }
        Ok(Stack { inline: [value; N], heap, len })
    }
}

impl<T, const N: usize> Deref for Stack<T, N> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        if self.len <= N { &self.inline[..self.len] } else { &self.heap }
    }
}

impl<T, const N: usize> DerefMut for Stack<T, N> {
    fn deref_mut(&mut self) -> &mut [T] {
        if self.len <= N { &mut self.inline[..self.len] } else { &mut self.heap }
    }
}

#[cfg(test)]
mod tests {
    use super::Stack;

    #[test]
    fn memory_that_is_not_there_is_told() {
        let list: Result<Stack<u64, 4>, usize> = Stack::filled(0, 1 << 62);
        assert_eq!(list.err(), Some(usize::MAX));
    }

    #[test]
    fn both_sides_of_the_bound_behave_alike() {
        for len in [0, 1, 3, 4, 5, 40] {
            let mut list: Stack<usize, 4> = Stack::filled(7, len).unwrap();
            assert_eq!(&*list, vec![7; len]);
            list.iter_mut().enumerate().for_each(|(i, item)| *item = i);
            assert!(list.iter().copied().eq(0..len), "length {len}");
        }
    }
}
