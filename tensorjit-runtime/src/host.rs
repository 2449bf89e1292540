//! What kernels may call back: tasks for the threads of a team.

use std::sync::atomic::{AtomicI64, Ordering};

use crate::abi::Host;
use crate::threads;

/// The host of every call.
pub static HOST: Host = Host { parallel_for };

/// Tasks of a kernel, of which every member of a team takes the next until none is left.
///
/// They are taken in rising order, so that neighbours in memory are touched close in time.
struct Tasks {
    next: AtomicI64,
    count: i64,
    context: *mut u8,
    task: unsafe extern "C" fn(*mut u8, i64),
}

// SAFETY: a kernel makes tasks for any thread: the context is only read, and no task writes what another one
// reads or writes. `next` gives every index to one thread alone.
unsafe impl Sync for Tasks {}

impl Tasks {
    fn work(&self) {
        loop {
            // Nothing is published through the counter: tasks read what was there before the team started.
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            if index >= self.count {
                return;
            }
            // SAFETY: whoever made the tasks promises it for the indices below the count, each once.
            unsafe { (self.task)(self.context, index) };
        }
    }
}

/// Runs the tasks on the team of this thread.  Kernels cut their work by size alone, so that any team, and any
/// order, gives the same bits.
///
/// # Safety
///
/// `task` may be called with `context` and every index in `0..count` once, on any threads at a time, until this
/// returns, and does not unwind.
unsafe extern "C" fn parallel_for(
    _host: *const Host,
    count: i64,
    context: *mut u8,
    task: unsafe extern "C" fn(*mut u8, i64),
) {
    let tasks = Tasks { next: AtomicI64::new(0), count, context, task };
    threads::team(usize::try_from(count).unwrap_or(1), &|| tasks.work());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    unsafe extern "C" fn count(context: *mut u8, index: i64) {
        // SAFETY: the test hands over as many counters as there are tasks.
        let counter = unsafe { &*context.cast::<AtomicU32>().add(index as usize) };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    #[test]
    fn every_task_runs_once() {
        for threads in [1, 2, 3, 7] {
            for tasks in [0, 1, 2, 100] {
                let mut counters: Vec<AtomicU32> = (0..tasks).map(|_| AtomicU32::new(0)).collect();
                let context = counters.as_mut_ptr().cast();
                // SAFETY: `count` takes as many counters, which outlive the call and are shared.
                let run = || unsafe { (HOST.parallel_for)(&HOST, tasks, context, count) };
                threads::with_threads(threads, run);
                assert!(counters.iter().all(|counter| counter.load(Ordering::Relaxed) == 1));
            }
        }
    }
}
