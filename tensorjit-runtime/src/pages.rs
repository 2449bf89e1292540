//! Huge pages under large workspaces.
//!
//! Kernels walk over tensors by rows and by tiles of them, which lie in many pages; with pages of 4 KiB the
//! translations of their addresses do not fit the processor's caches of these, and products of matrices of a few
//! megabytes wait for them.

/// The size of a huge page, and what memory of such is aligned to.
pub(crate) const HUGE: usize = 2 << 20;

/// Whether memory of so many bytes should have huge pages: two at least are whole, and what is left has small ones.
pub(crate) const fn wants_huge(bytes: usize) -> bool {
    bytes >= 2 * HUGE
}

/// Asks for huge pages under memory that is about to be used; the system may decline.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) fn advise_huge(memory: *mut u8, bytes: usize) {
    use std::ffi::{c_int, c_void};

    // Every C library that `std` links on Linux has it, so that no crate is needed for it.
    unsafe extern "C" {
        fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
    }
    const MADV_HUGEPAGE: c_int = 14;
    // SAFETY: the advice changes neither contents nor protection, and the caller owns the memory.
    let _ = unsafe { madvise(memory.cast(), bytes, MADV_HUGEPAGE) };
}

/// Other systems have no such advice.
#[cfg(not(all(target_os = "linux", not(miri))))]
pub(crate) fn advise_huge(_memory: *mut u8, _bytes: usize) {}
