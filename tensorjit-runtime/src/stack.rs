//! A short list that lives on the stack, and on the heap only where it is long.

use std::mem::MaybeUninit;

/// A list that is filled in place; up to `N` items need no allocation.
pub(crate) struct Stack<T, const N: usize> {
    /// The items, where there are no more than `N`.
    inline: [MaybeUninit<T>; N],
    /// The items, where there are more.
    heap: Vec<T>,
}

impl<T: Copy, const N: usize> Stack<T, N> {
    /// Empty.
    #[inline]
    pub(crate) const fn new() -> Stack<T, N> {
        Stack { inline: [const { MaybeUninit::uninit() }; N], heap: Vec::new() }
    }

    /// `len` items, each made from its place; the number of bytes that memory lacks where they are many.
    #[inline]
    pub(crate) fn fill(&mut self, len: usize, item: impl Fn(usize) -> T) -> Result<&mut [T], usize> {
        if len > N {
            return self.fill_heap(len, item);
        }
        for (index, place) in self.inline[..len].iter_mut().enumerate() {
            place.write(item(index));
        }
        // SAFETY: so many items have just been initialised.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.inline.as_mut_ptr().cast(), len) })
    }

    #[cold]
    fn fill_heap(&mut self, len: usize, item: impl Fn(usize) -> T) -> Result<&mut [T], usize> {
        self.heap.clear();
        self.heap.try_reserve_exact(len).map_err(|_| len.saturating_mul(size_of::<T>()))?;
        self.heap.extend((0..len).map(item));
        Ok(&mut self.heap)
    }
}

#[cfg(test)]
mod tests {
    use super::Stack;

    #[test]
    fn memory_that_is_not_there_is_told() {
        assert_eq!(Stack::<u64, 4>::new().fill(1 << 62, |_| 0), Err(usize::MAX));
    }

    #[test]
    fn both_sides_of_the_bound_behave_alike() {
        for len in [0, 1, 3, 4, 5, 40] {
            let mut stack = Stack::<usize, 4>::new();
            let list = stack.fill(len, |index| 3 * index).unwrap();
            assert!(list.iter().copied().eq((0..len).map(|i| 3 * i)), "length {len}");
            list.iter_mut().enumerate().for_each(|(i, item)| *item = i);
            assert!(list.iter().copied().eq(0..len), "length {len}");
        }
    }
}
