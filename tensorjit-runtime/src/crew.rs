//! Threads that help others with regions of work, one crew for the whole program.
//!
//! Who owns a region opens it, works itself, and closes it again when nothing is left.  Helpers come in while it is
//! open; its owner waits for those that have, never for one that is still on its way.  Nothing is allocated but where
//! the crew grows: a region stands on the stack of its owner.
//!
//! The regions of a call follow each other within microseconds, much less than it takes to wake a thread.  So both
//! helpers and owners look out for a while before they sleep.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a thread looks out before it sleeps: some times what it takes to wake it.
const LOOKOUT: Duration = Duration::from_micros(100);

/// How many sleepers a thread wakes; these wake the next, so that no one wakes all the threads of a large machine.
const WAKES: usize = 2;

/// The crew of this program.
static CREW: Crew = Crew::new();

/// Runs `work` on this thread and, as far as they come while it does, on so many helpers.  What it calls are kernels,
/// which do not unwind: a panic on a helper would be lost.
pub(crate) fn share(helpers: usize, work: &(dyn Fn() + Sync)) {
    CREW.share(helpers, work);
}

struct Crew {
    state: Mutex<State>,
    /// Places for helpers in all open regions; changed by who holds the lock, and read without by those that look out.
    places: AtomicUsize,
    /// Where helpers sleep.
    work: Condvar,
    /// Where owners sleep.
    done: Condvar,
}

struct State {
    open: Vec<Open>,
    /// Threads that have been started.
    started: usize,
    /// Whether the system has refused one; then no more are asked for.
    refused: bool,
    /// Helpers that sleep and that nobody has woken.
    asleep: usize,
    /// Helpers that have been woken, and do not know it yet.
    woken: usize,
    /// Owners that sleep.
    waiting: usize,
}

/// A region that helpers may come into.
struct Open {
    region: Place,
    places: usize,
}

// SAFETY: a region is made to be shared; its owner keeps it where it is until no helper is within.
unsafe impl Send for Open {}

/// Work that several threads do.
struct Region<'w> {
    work: &'w (dyn Fn() + Sync),
    /// Helpers that are within.
    helpers: AtomicUsize,
}

/// Where a region is: as a pointer, because it may be gone as soon as a helper has said that it leaves.
type Place = NonNull<Region<'static>>;

impl Region<'_> {
    fn place(&self) -> Place {
        NonNull::from(self).cast()
    }
}

impl Crew {
    const fn new() -> Crew {
        let state = State { open: Vec::new(), started: 0, refused: false, asleep: 0, woken: 0, waiting: 0 };
        let (work, done) = (Condvar::new(), Condvar::new());
        Crew { state: Mutex::new(state), places: AtomicUsize::new(0), work, done }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that could panic runs while it is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn share(&'static self, helpers: usize, work: &(dyn Fn() + Sync)) {
        let region = Region { work, helpers: AtomicUsize::new(0) };
        // Also where the work panics no helper is left behind.
        let _close = OnDrop(|| self.close(&region));
        self.open(&region, helpers);
        work();
    }

    /// Lets helpers in.  Who calls this closes the region while it is alive.
    fn open(&'static self, region: &Region<'_>, helpers: usize) {
        let mut state = self.lock();
        self.grow(&mut state, helpers);
        let places = helpers.min(state.started);
        state.open.push(Open { region: region.place(), places });
        self.places.fetch_add(places, Ordering::Relaxed);
        self.wake(state);
    }

    /// Lets nobody in any more, and waits for those that are within.
    fn close(&self, region: &Region<'_>) {
        let mut state = self.lock();
        self.fill(&mut state, region.place());
        state.open.retain(|open| open.region != region.place());
        drop(state);
        // What helpers have written is seen by who sees that they have left.
        let left = || region.helpers.load(Ordering::Acquire) == 0;
        if look_out(left) {
            return;
        }
        let mut state = self.lock();
        while !left() {
            state.waiting += 1;
            state = self.done.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
    }

    /// Has no places left in a region.
    fn fill(&self, state: &mut State, region: Place) {
        if let Some(open) = state.open.iter_mut().find(|open| open.region == region) {
            self.places.fetch_sub(std::mem::take(&mut open.places), Ordering::Relaxed);
        }
    }

    /// Wakes helpers for the places that there are.
    fn wake(&self, mut state: MutexGuard<'_, State>) {
        let wakes = WAKES.min(state.asleep).min(self.places.load(Ordering::Relaxed));
        state.asleep -= wakes;
        state.woken += wakes;
        drop(state);
        for _ in 0..wakes {
            self.work.notify_one();
        }
    }

    /// Starts threads until there are so many.
    fn grow(&'static self, state: &mut State, helpers: usize) {
        while state.started < helpers && !state.refused {
            let name = format!("tensorjit-{}", state.started);
            match thread::Builder::new().name(name).spawn(|| self.help()) {
                Ok(_) => state.started += 1,
                Err(_) => state.refused = true,
            }
        }
    }

    /// What a helper does, for as long as the program runs.
    fn help(&self) {
        loop {
            while let Some(region) = self.enter() {
                let _leave = OnDrop(|| self.leave(region));
                // SAFETY: the region is alive until this helper has left.
                let work = unsafe { region.as_ref() }.work;
                work();
            }
            if !look_out(|| self.places.load(Ordering::Relaxed) > 0) {
                self.sleep();
            }
        }
    }

    /// Takes a place in the region that was opened first, of those that have one.
    fn enter(&self) -> Option<Place> {
        if self.places.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut state = self.lock();
        let open = state.open.iter_mut().find(|open| open.places > 0)?;
        open.places -= 1;
        let region = open.region;
        // SAFETY: it is open, and so alive.
        unsafe { region.as_ref() }.helpers.fetch_add(1, Ordering::Relaxed);
        self.places.fetch_sub(1, Ordering::Relaxed);
        self.wake(state);
        Some(region)
    }

    /// Leaves a region, where this helper has found nothing more to do, and so no other would.
    fn leave(&self, region: Place) {
        let mut state = self.lock();
        self.fill(&mut state, region);
        // SAFETY: its owner waits for this helper.
        let last = unsafe { region.as_ref() }.helpers.fetch_sub(1, Ordering::Release) == 1;
        // From here on the region may be gone.
        let waiting = last && state.waiting > 0;
        drop(state);
        if waiting {
            self.done.notify_all();
        }
    }

    /// Sleeps until there may be a place.
    fn sleep(&self) {
        let mut state = self.lock();
        if self.places.load(Ordering::Relaxed) > 0 {
            return;
        }
        state.asleep += 1;
        while state.woken == 0 {
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.woken -= 1;
    }
}

/// Looks whether something has come true, again and again for a while.  Where there are more threads than processors
/// others go first.
fn look_out(come: impl Fn() -> bool) -> bool {
    /// Looks between two looks at the clock.
    const LOOKS: usize = 64;
    let mut start = None;
    loop {
        for _ in 0..LOOKS {
            if come() {
                return true;
            }
            std::hint::spin_loop();
        }
        if start.get_or_insert_with(Instant::now).elapsed() > LOOKOUT {
            return false;
        }
        thread::yield_now();
    }
}

/// Does something at the end of a scope, also where that panics.
struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn crew() -> &'static Crew {
        Box::leak(Box::new(Crew::new()))
    }

    /// Adds up `0..count` on this thread and its helpers.
    fn sum(crew: &'static Crew, helpers: usize, count: usize) -> usize {
        let (next, sum) = (AtomicUsize::new(0), AtomicUsize::new(0));
        crew.share(helpers, &|| {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= count {
                    return;
                }
                sum.fetch_add(index, Ordering::Relaxed);
            }
        });
        sum.into_inner()
    }

    #[test]
    fn all_is_done_when_a_region_is_closed() {
        let crew = crew();
        for round in 0..if cfg!(miri) { 8 } else { 2000 } {
            assert_eq!(sum(crew, 1 + round % 3, round), round * round.saturating_sub(1) / 2);
        }
        let state = crew.lock();
        assert_eq!((state.open.len(), state.started, crew.places.load(Ordering::Relaxed)), (0, 3, 0));
    }

    #[test]
    fn helpers_wake_again() {
        let crew = crew();
        for _ in 0..3 {
            let met = AtomicUsize::new(0);
            // Nobody returns before all have come.
            crew.share(3, &|| {
                met.fetch_add(1, Ordering::Relaxed);
                while met.load(Ordering::Relaxed) < 4 {
                    thread::yield_now();
                }
            });
            thread::sleep(3 * LOOKOUT);
        }
    }

    #[test]
    fn owners_share_a_crew() {
        let crew = crew();
        let rounds = if cfg!(miri) { 2 } else { 300 };
        thread::scope(|scope| {
            for owner in 0..4 {
                scope.spawn(move || (0..rounds).for_each(|_| assert_eq!(sum(crew, 1 + owner, 100), 4950)));
            }
        });
        assert_eq!(crew.places.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn owners_sleep_until_the_last_has_left() {
        let (crew, mine) = (crew(), thread::current().id());
        let done = AtomicUsize::new(0);
        let both = AtomicUsize::new(0);
        crew.share(1, &|| {
            both.fetch_add(1, Ordering::Relaxed);
            while both.load(Ordering::Relaxed) < 2 {
                thread::yield_now();
            }
            if thread::current().id() != mine {
                thread::sleep(20 * LOOKOUT);
                done.store(1, Ordering::Relaxed);
            }
        });
        assert_eq!(done.into_inner(), 1);
    }

    #[test]
    fn a_panic_leaves_nobody_behind() {
        let (crew, mine) = (crew(), thread::current().id());
        let panics = || {
            crew.share(2, &|| {
                if thread::current().id() == mine {
                    panic!("ends early")
                }
            });
        };
        assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
        assert_eq!(sum(crew, 2, 100), 4950);
        assert_eq!(crew.lock().open.len(), 0);
    }
}
