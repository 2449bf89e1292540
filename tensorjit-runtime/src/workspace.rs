//! Memory for one call, reused by later ones.

use std::alloc::{Layout, alloc, dealloc};
use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use crate::pages::{self, HUGE};

/// Alignment of every workspace: a cache line, and the widest vector.
pub(crate) const ALIGN: usize = 64;

/// Sizes are rounded up to whole pages, so that sizes that differ little share a buffer.
const GRAIN: usize = 4096;

/// A dangling address with the promised alignment.
const NOTHING: NonNull<u8> = NonNull::<Aligned>::dangling().cast();

/// The layout of no memory.
const EMPTY: Layout = Layout::new::<()>();

#[repr(align(64))]
struct Aligned;

/// Memory that the `into_with` form of a function uses for intermediate values.
///
/// It grows to the largest size that was asked of it and stays there.
///
/// ```
/// let mut workspace = tensorjit_runtime::Workspace::new();
/// assert_eq!(workspace.capacity(), 0);
/// ```
#[derive(Debug)]
pub struct Workspace {
    memory: NonNull<u8>,
    /// How it was allocated; nothing is where it has no bytes.
    layout: Layout,
}

// SAFETY: it owns its memory, like a vector of bytes, and hands out addresses only through `&mut`.
unsafe impl Send for Workspace {}
// SAFETY: a shared reference reads nothing but the capacity.
unsafe impl Sync for Workspace {}

impl Workspace {
    /// An empty one; it allocates nothing.
    pub const fn new() -> Workspace {
        Workspace { memory: NOTHING, layout: EMPTY }
    }

    /// Bytes that it holds.
    pub fn capacity(&self) -> usize {
        self.layout.size()
    }

    /// Makes room for `bytes` and returns their address, aligned to 64; `None` where memory is short.
    pub(crate) fn reserve(&mut self, bytes: usize) -> Option<*mut u8> {
        if bytes > self.capacity() {
            let rounded = bytes.checked_next_multiple_of(GRAIN)?;
            self.free();
            // An allocator may refuse to align to more than pages.
            let huge = pages::wants_huge(rounded) && self.allocate(rounded, HUGE);
            if huge {
                pages::advise_huge(self.memory.as_ptr(), rounded);
            } else if !self.allocate(rounded, ALIGN) {
                return None;
            }
        }
        Some(self.memory.as_ptr())
    }

    /// Whether there is memory for so many bytes, more than none; nothing may be held.
    fn allocate(&mut self, bytes: usize, align: usize) -> bool {
        let Ok(layout) = Layout::from_size_align(bytes, align) else { return false };
        // SAFETY: the size is not zero.
        let Some(memory) = NonNull::new(unsafe { alloc(layout) }) else { return false };
        (self.memory, self.layout) = (memory, layout);
        true
    }

    fn free(&mut self) {
        let layout = std::mem::replace(&mut self.layout, EMPTY);
        let memory = std::mem::replace(&mut self.memory, NOTHING);
        if layout.size() > 0 {
            // SAFETY: it was allocated with this layout, and nothing refers to it any more.
            unsafe { dealloc(memory.as_ptr(), layout) };
        }
    }
}

impl Default for Workspace {
    fn default() -> Workspace {
        Workspace::new()
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        self.free();
    }
}

/// A workspace on the stack of the caller, for calls that take little: they need not ask their thread for one.
#[repr(align(64))]
pub(crate) struct Small(MaybeUninit<[u8; Small::BYTES]>);

impl Small {
    /// Two pages, enough for small products; a thread has stacks of many.
    pub(crate) const BYTES: usize = 8192;

    /// Not initialised.
    #[inline]
    pub(crate) const fn new() -> Small {
        Small(MaybeUninit::uninit())
    }

    /// Its address, aligned to 64.
    #[inline]
    pub(crate) fn address(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

thread_local! {
    /// Workspaces that no call uses.  A stack, because a thread that waits for others may start another call.
    static IDLE: RefCell<Vec<Workspace>> = const { RefCell::new(Vec::new()) };
}

/// A workspace of this thread that no call uses.
pub(crate) fn take_idle() -> Workspace {
    // Where the thread is ending its stack may be gone; then the call has a workspace of its own.
    let idle = IDLE.try_with(|stack| stack.borrow_mut().pop());
    idle.ok().flatten().unwrap_or_default()
}

/// Keeps a workspace for later calls of this thread.
pub(crate) fn keep_idle(workspace: Workspace) {
    let _ = IDLE.try_with(|stack| stack.borrow_mut().push(workspace));
}

/// Frees the workspaces that this thread keeps for later calls.
pub fn release_workspaces() {
    let _ = IDLE.try_with(|stack| stack.take());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_and_stays() {
        let mut workspace = Workspace::new();
        assert_eq!(workspace.reserve(0).map(|p| p as usize % ALIGN), Some(0));
        assert_eq!(workspace.capacity(), 0);
        let first = workspace.reserve(100).unwrap();
        assert_eq!((first as usize % ALIGN, workspace.capacity()), (0, GRAIN));
        // SAFETY: the reserved bytes may be written.
        unsafe { first.write_bytes(7, GRAIN) };
        assert_eq!(workspace.reserve(GRAIN), Some(first), "nothing is allocated again");
        workspace.reserve(GRAIN + 1).unwrap();
        assert_eq!(workspace.capacity(), 2 * GRAIN);
        assert_eq!(workspace.reserve(isize::MAX as usize), None);
        assert_eq!(workspace.reserve(usize::MAX), None);
        assert!(workspace.reserve(10).is_some(), "usable after a failure");
    }

    #[test]
    fn large_ones_begin_where_huge_pages_do() {
        let mut workspace = Workspace::new();
        let first = workspace.reserve(5 * HUGE / 2).unwrap();
        assert_eq!((first as usize % HUGE, workspace.capacity()), (0, 5 * HUGE / 2));
        // SAFETY: the reserved bytes may be written.
        unsafe { first.write_bytes(7, workspace.capacity()) };
        workspace.reserve(4 * HUGE).unwrap();
        assert_eq!(workspace.capacity(), 4 * HUGE);
    }

    #[test]
    fn nested_calls_have_their_own() {
        release_workspaces();
        let (mut a, mut b) = (take_idle(), take_idle());
        let outer = a.reserve(10);
        assert_ne!(outer, b.reserve(10));
        keep_idle(b);
        keep_idle(a);
        // The stack returns the one that was pushed last.
        assert_eq!(take_idle().reserve(10), outer);
        release_workspaces();
        assert_eq!(take_idle().capacity(), 0);
    }
}
