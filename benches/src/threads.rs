//! How many threads this process measures with; set once, before anything is made ready.

use std::sync::atomic::{AtomicUsize, Ordering};

static THREADS: AtomicUsize = AtomicUsize::new(1);

/// The number of threads that every contender may use.
pub fn threads() -> usize {
    THREADS.load(Ordering::Relaxed)
}

/// Sets it.
pub fn set_threads(count: usize) {
    THREADS.store(count, Ordering::Relaxed);
}
