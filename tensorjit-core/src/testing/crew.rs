//! Hosts that run tasks in various orders and on several threads.

use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;

use tensorjit_runtime::abi::Host;

type Task = unsafe extern "C" fn(*mut u8, i64);

/// One thread, first task first.
pub static SERIAL: Host = Host { parallel_for: serial };

/// One thread, last task first.
pub static REVERSED: Host = Host { parallel_for: reversed };

/// One thread; every task runs between one from the front and one from the back.
pub static SHUFFLED: Host = Host { parallel_for: shuffled };

/// Two threads that take the next task in turn.
pub static TWO: Host = Host { parallel_for: threads::<2> };

/// Three threads.
pub static THREE: Host = Host { parallel_for: threads::<3> };

/// Seven threads.
pub static SEVEN: Host = Host { parallel_for: threads::<7> };

/// All of them, with their names.
pub static ALL: [(&str, &Host); 6] = [
    ("in order", &SERIAL),
    ("reversed", &REVERSED),
    ("shuffled", &SHUFFLED),
    ("two threads", &TWO),
    ("three threads", &THREE),
    ("seven threads", &SEVEN),
];

unsafe extern "C" fn serial(_: *const Host, count: i64, context: *mut u8, task: Task) {
    // SAFETY: the kernel gave both for each other and for these indices.
    (0..count).for_each(|index| unsafe { task(context, index) });
}

unsafe extern "C" fn reversed(_: *const Host, count: i64, context: *mut u8, task: Task) {
    // SAFETY: as above.
    (0..count).rev().for_each(|index| unsafe { task(context, index) });
}

unsafe extern "C" fn shuffled(_: *const Host, count: i64, context: *mut u8, task: Task) {
    for index in 0..count {
        let index = if index % 2 == 0 { index / 2 } else { count - 1 - index / 2 };
        // SAFETY: as above; every index comes once.
        unsafe { task(context, index) };
    }
}

unsafe extern "C" fn threads<const N: usize>(_: *const Host, count: i64, context: *mut u8, task: Task) {
    /// What crosses to the threads.
    struct Shared(*mut u8, Task);
    // SAFETY: kernels make contexts that are only read, and tasks that may run at the same time.
    unsafe impl Sync for Shared {}
    let (shared, next) = (&Shared(context, task), &AtomicI64::new(0));
    thread::scope(|scope| {
        for _ in 0..N {
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        return;
                    }
                    // SAFETY: as above; every index comes once, and the context outlives the scope.
                    unsafe { (shared.1)(shared.0, index) };
                }
            });
        }
    });
}
