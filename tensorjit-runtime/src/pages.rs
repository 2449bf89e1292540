//! Huge pages under large workspaces.
//!
//! Kernels walk over tensors by rows and by tiles of them, which lie in many pages; with pages of 4 KiB the
//! translations of their addresses do not fit the processor's caches of these, and products of matrices of a few
//! megabytes wait for them.

/// The size of a huge page, and what memory of such is aligned to.
pub(crate) const HUGE: usize = 2 << 20;

/// Whether memory of so many bytes should have huge pages: at least one is whole, and little of the last is wasted.
pub(crate) const fn wants_huge(bytes: usize) -> bool {
    bytes >= 2 * HUGE
}

/// Asks for huge pages under fresh memory of which nothing has been touched yet; the system may decline.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) fn advise_huge(memory: *mut u8, bytes: usize) {
    use std::ffi::{c_int, c_void};

    // The C library that `std` links has it.
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
