//! Which threads share the work of a call.
//!
//! The calling thread always works itself, at once.  Others are asked only by kernels whose work is worth it: those of
//! rayon's pool where the caller belongs to one, else the crew of this program.  How many they are says the ambient
//! pool of rayon, or [`with_threads`].

use std::cell::Cell;

#[cfg(feature = "threads")]
use pools as team_of;
#[cfg(not(feature = "threads"))]
use serial as team_of;

/// Who works for a thread.
#[derive(Clone, Copy)]
enum Team {
    /// As many as the ambient pool of rayon has.
    Ambient,
    /// So many threads, itself among them.
    Of(usize),
}

thread_local! {
    static TEAM: Cell<Team> = const { Cell::new(Team::Ambient) };
}

/// Runs `body` on this thread; the tensor functions that it calls share their work among `threads` threads, this
/// one among them.
///
/// With 1 (or 0) nothing is shared.  Elsewhere the ambient pool of rayon decides: a thread of a pool shares with that
/// pool, any other among as many threads as the global one has, which are those of the machine's processors unless
/// the program, before its first call, or `RAYON_NUM_THREADS` says otherwise.  The results have the same bits for every number of threads.
///
/// Outside of pools, and where a number was chosen, all calls of a program share one crew of helpers.  The first use of a number starts what it lacks
/// of them; they then sleep until they are needed, for as long as the program runs.  Where the system refuses
/// threads, or without the feature `threads`, nothing is shared.
///
/// ```
/// let answer = tensorjit_runtime::with_threads(2, || 6 * 7);
/// assert_eq!(answer, 42);
/// ```
pub fn with_threads<R>(threads: usize, body: impl FnOnce() -> R) -> R {
    /// Restores the team, also where `body` panics.
    struct Restore(Team);
    impl Drop for Restore {
        fn drop(&mut self) {
            TEAM.set(self.0);
        }
    }
    let _restore = Restore(TEAM.replace(Team::Of(threads.max(1))));
    body()
}

/// Runs `work` on this thread and, at the same time, on the others of its team, `most` threads in all at most;
/// returns when it has returned on all.
pub(crate) fn team(most: usize, work: &(dyn Fn() + Sync)) {
    match TEAM.try_with(Cell::get) {
        Ok(Team::Of(1)) => work(),
        _ if most <= 1 => work(),
        Ok(Team::Of(threads)) => team_of::chosen(threads.min(most), work),
        // Where the thread is ending its choice may be gone.
        Ok(Team::Ambient) | Err(_) => team_of::ambient(most, work),
    }
}

/// Teams of the crew, and of the pools of rayon.
#[cfg(feature = "threads")]
mod pools {
    use std::error::Error;
    use std::panic::catch_unwind;
    use std::sync::OnceLock;

    use rayon_core::{ThreadPoolBuilder, current_num_threads, current_thread_index, join};

    use crate::crew;

    /// A team of so many threads at most, as large as the ambient pool.
    pub(super) fn ambient(most: usize, work: &(dyn Fn() + Sync)) {
        if current_thread_index().is_some() {
            split(most.min(current_num_threads()), work);
        } else {
            chosen(most.min(global()), work);
        }
    }

    /// A team of so many threads.  A thread outside of a pool could share with it only what stands on the heap, or by
    /// waiting for it; the crew asks neither.
    pub(super) fn chosen(threads: usize, work: &(dyn Fn() + Sync)) {
        match threads {
            0 | 1 => work(),
            _ => crew::share(threads - 1, work),
        }
    }

    /// A team of this thread and others of the pool that it belongs to.  A thread that waits for others meanwhile does
    /// whatever else waits there.
    fn split(threads: usize, work: &(dyn Fn() + Sync)) {
        match threads {
            0 | 1 => work(),
            _ => {
                join(|| split(threads - threads / 2, work), || split(threads / 2, work));
            }
        }
    }

    /// The number of threads of the global pool, which the first use starts.
    ///
    /// Where the system refuses threads, rayon itself would panic at every use, which must not reach a kernel.
    fn global() -> usize {
        static THREADS: OnceLock<usize> = OnceLock::new();
        *THREADS.get_or_init(|| match ThreadPoolBuilder::new().build_global() {
            Ok(()) => current_num_threads(),
            // Without an error of the system, others have started the pool, or have tried to.
            Err(error) if error.source().is_none() => catch_unwind(current_num_threads).unwrap_or(1),
            Err(_) => 1,
        })
    }
}

/// The calling thread alone.
#[cfg(not(feature = "threads"))]
mod serial {
    pub(super) fn ambient(_most: usize, work: &(dyn Fn() + Sync)) {
        work();
    }

    pub(super) fn chosen(_threads: usize, work: &(dyn Fn() + Sync)) {
        work();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::Mutex;
    use std::thread::{self, ThreadId};

    /// The threads that work in a team.
    fn members(most: usize) -> usize {
        let seen: Mutex<HashSet<ThreadId>> = Mutex::new(HashSet::new());
        let mine = thread::current().id();
        team(most, &|| {
            // Long enough for the others to come.
            thread::sleep(std::time::Duration::from_millis(20));
            seen.lock().unwrap().insert(thread::current().id());
        });
        let seen = seen.into_inner().unwrap();
        assert!(seen.contains(&mine), "the caller works itself");
        seen.len()
    }

    #[test]
    #[cfg(feature = "threads")]
    fn the_choice_holds_inside_and_ends() {
        assert_eq!(with_threads(3, || members(100)), 3);
        assert_eq!(with_threads(3, || members(2)), 2, "no more than there are tasks");
        assert_eq!(with_threads(3, || with_threads(1, || members(100))), 1);
        let ambient = members(100);
        assert!(std::panic::catch_unwind(|| with_threads(1, || panic!("ends early"))).is_err());
        assert_eq!(members(100), ambient, "restored after a panic");
    }

    #[test]
    #[cfg(feature = "threads")]
    fn the_ambient_pool_is_the_callers() {
        let pool = rayon_core::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        assert_eq!(pool.install(|| members(100)), 4);
        let alone = rayon_core::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(alone.install(|| members(100)), 1);
    }

    /// In a process of its own, where threads would have stacks larger than any memory.
    #[test]
    #[cfg(all(feature = "threads", unix))]
    fn refused_threads_are_done_without() {
        const CHILD: &str = "TENSORJIT_TEST_WITHOUT_THREADS";
        if std::env::var_os(CHILD).is_some() {
            for _ in 0..2 {
                assert_eq!((members(4), with_threads(3, || members(4))), (1, 1));
            }
            return;
        }
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "threads::tests::refused_threads_are_done_without"])
            .args(["--test-threads=1", "--nocapture"])
            .env(CHILD, "1")
            .env("RUST_MIN_STACK", (1_u64 << 62).to_string())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(said.contains("1 passed") && !said.contains("panicked"), "{said}");
    }

    #[test]
    fn nothing_is_shared_by_one() {
        assert_eq!(with_threads(1, || members(100)), 1);
        assert_eq!(with_threads(0, || members(100)), 1);
        assert_eq!(with_threads(8, || members(1)), 1);
        assert_eq!(with_threads(8, || members(0)), 1);
    }
}
