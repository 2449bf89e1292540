//! What kernels may call back.

use crate::abi::Host;

/// Runs every task on the calling thread, in order.
///
/// Work is cut into tasks by size alone, so that a pool that runs them in any order gives the same bits.
pub(crate) static SERIAL: Host = Host { parallel_for: serial };

/// # Safety
///
/// `task` may be called with `context` and every index in `0..count`, in any order.
unsafe extern "C" fn serial(
    _host: *const Host,
    count: i64,
    context: *mut u8,
    task: unsafe extern "C" fn(*mut u8, i64),
) {
    for index in 0..count {
        // SAFETY: the caller promises it for these indices.
        unsafe { task(context, index) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn add(context: *mut u8, index: i64) {
        // SAFETY: the test hands over an `i64`.
        unsafe { *context.cast::<i64>() += index + 1 };
    }

    #[test]
    fn every_task_runs_once() {
        let mut sum = 0_i64;
        // SAFETY: `add` takes an `i64`, which outlives the call.
        unsafe { (SERIAL.parallel_for)(&SERIAL, 10, (&raw mut sum).cast(), add) };
        assert_eq!(sum, 55);
    }
}
