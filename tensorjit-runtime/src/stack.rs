//! A short list of a call: it lives on the stack, and a long one in memory that the thread keeps for its calls.

use std::mem::MaybeUninit;

use crate::workspace::{ALIGN, Workspace, keep_idle, take_idle};

/// A list that is filled in place; up to `N` items are on the stack.
pub(crate) struct Stack<T, const N: usize> {
    /// The items, where there are no more than `N`.
    inline: [MaybeUninit<T>; N],
    /// The items, where there are more.
    long: Workspace,
}

impl<T: Copy, const N: usize> Stack<T, N> {
    /// Empty.
    #[inline]
    pub(crate) const fn new() -> Stack<T, N> {
        Stack { inline: [const { MaybeUninit::uninit() }; N], long: Workspace::new() }
    }

    /// `len` items, each made from its place; the number of bytes that memory lacks where they are many.
    #[inline]
    pub(crate) fn fill(&mut self, len: usize, item: impl Fn(usize) -> T) -> Result<&mut [T], usize> {
        if len > N {
            return self.fill_long(len, item);
        }
        for (index, place) in self.inline[..len].iter_mut().enumerate() {
            place.write(item(index));
        }
        // SAFETY: so many items have just been initialised.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.inline.as_mut_ptr().cast(), len) })
    }

    #[cold]
    fn fill_long(&mut self, len: usize, item: impl Fn(usize) -> T) -> Result<&mut [T], usize> {
        const { assert!(align_of::<T>() <= ALIGN) };
        if self.long.capacity() == 0 {
            self.long = take_idle();
        }
        let bytes = len.saturating_mul(size_of::<T>());
        let first = self.long.reserve(bytes).ok_or(bytes)?.cast::<T>();
        // SAFETY: so many items are reserved at an aligned address, and are initialised before there is a list of
        // them; it borrows the list that owns the memory.
        unsafe {
            (0..len).for_each(|index| first.add(index).write(item(index)));
            Ok(std::slice::from_raw_parts_mut(first, len))
        }
    }
}

impl<T, const N: usize> Drop for Stack<T, N> {
    #[inline]
    fn drop(&mut self) {
        if self.long.capacity() > 0 {
            keep_idle(std::mem::take(&mut self.long));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Stack;

    #[test]
    fn memory_that_is_not_there_is_told() {
        assert_eq!(Stack::<u64, 4>::new().fill(1 << 62, |_| 0), Err(usize::MAX));
        assert_eq!(Stack::<u64, 4>::new().fill(1 << 59, |_| 0), Err(1 << 62));
    }

    #[test]
    fn both_sides_of_the_bound_behave_alike() {
        for len in [0, 1, 3, 4, 5, 40, 2000] {
            let mut stack = Stack::<usize, 4>::new();
            let list = stack.fill(len, |index| 3 * index).unwrap();
            assert!(list.iter().copied().eq((0..len).map(|i| 3 * i)), "length {len}");
            list.iter_mut().enumerate().for_each(|(i, item)| *item = i);
            assert!(list.iter().copied().eq(0..len), "length {len}");
        }
    }

    /// As the addresses of a call are beside its symbols.
    #[test]
    fn long_lists_have_memory_of_their_own_and_keep_it() {
        let addresses = || {
            let (mut outer, mut inner) = (Stack::<u64, 0>::new(), Stack::<u64, 0>::new());
            let outer = outer.fill(700, |_| 1).unwrap();
            let inner = inner.fill(900, |_| 2).unwrap();
            assert!(outer.iter().all(|item| *item == 1));
            BTreeSet::from([outer.as_ptr() as usize, inner.as_ptr() as usize])
        };
        let first = addresses();
        assert_eq!(first.len(), 2);
        assert_eq!(addresses(), first, "nothing is allocated again");
    }
}
