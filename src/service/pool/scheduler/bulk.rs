//! Lends idle workers to bulk work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::Scheduler;

/// A worker lent to bulk work. Jobs may take it back for a while.
#[derive(Debug)]
pub(crate) struct BulkPermit {
    scheduler: Arc<Scheduler>,
    has_worker: AtomicBool,
    clock: Mutex<BulkClock>,
}

/// Measures the time for which bulk work has its worker, and the time for which jobs have taken the worker back.
#[derive(Debug)]
struct BulkClock {
    /// Time at which the worker was last taken or returned.
    since: Instant,
    /// Time with the worker before `since`.
    worked: Duration,
    /// Time without the worker before `since`.
    paused: Duration,
}

impl Scheduler {
    /// Blocks until a worker is free that no job could use. Returns none once `is_over` is true.
    /// [`wake_bulk`](Self::wake_bulk) makes the call check `is_over`, which must not call the scheduler.
    pub(crate) fn bulk_permit(self: &Arc<Self>, is_over: &dyn Fn() -> bool) -> Option<BulkPermit> {
        self.take_for_bulk(is_over).then(|| BulkPermit {
            scheduler: Arc::clone(self),
            has_worker: AtomicBool::new(true),
            clock: Mutex::new(BulkClock { since: Instant::now(), worked: Duration::ZERO, paused: Duration::ZERO }),
        })
    }

    /// Wakes waiting bulk work, so that it checks whether it is over.
    pub(crate) fn wake_bulk(&self) {
        // The lock excludes a thread between its check and its wait.
        let _state = self.lock();
        self.bulk_turn.notify_all();
    }

    /// Waits for a worker and takes it. Returns false once `is_over` is true.
    fn take_for_bulk(&self, is_over: &dyn Fn() -> bool) -> bool {
        let mut state = self.lock();
        state.bulk.waiting += 1;
        let is_taken = loop {
            if is_over() {
                break false;
            }
            let is_free = state.free > 0 && state.next().is_none();
            match state.bulk.help_until.filter(|until| *until > Instant::now()) {
                Some(until) if is_free => drop(self.bulk_turn.wait_until(&mut state, until)),
                None if is_free => break true,
                _ => self.bulk_turn.wait(&mut state),
            }
        };
        state.bulk.waiting -= 1;
        if is_taken {
            state.free -= 1;
            state.bulk.busy += 1;
            state.bulk.help_until = None;
            self.takes_bulk_workers.store(false, Ordering::Relaxed);
        } else if state.free > 0 {
            // This thread may have consumed a notification; it passes it on.
            self.bulk_turn.notify_one();
        }
        is_taken
    }
}

impl BulkPermit {
    /// True if a job needs the worker.
    pub(crate) fn is_wanted_back(&self) -> bool {
        self.scheduler.takes_bulk_workers.load(Ordering::Relaxed)
    }

    /// Returns the worker if a job needs it, and blocks until bulk work may have one again or `is_over` is true.
    pub(crate) fn pause(&self, is_over: &dyn Fn() -> bool) {
        if self.is_wanted_back() {
            self.without_worker(is_over, || ());
        }
    }

    /// Runs a closure without the worker, then blocks until bulk work may have one again, or `is_over` is true. Work
    /// that is over ends without a worker.
    pub(crate) fn without_worker<T>(&self, is_over: &dyn Fn() -> bool, run: impl FnOnce() -> T) -> T {
        if self.has_worker.swap(false, Ordering::Relaxed) {
            self.clock.lock().stop();
            self.give_back();
        }
        let done = run();
        if self.scheduler.take_for_bulk(is_over) {
            self.clock.lock().start();
            self.has_worker.store(true, Ordering::Relaxed);
        }
        done
    }

    /// Time with and without the worker so far.
    pub(crate) fn times(&self) -> (Duration, Duration) {
        let clock = self.clock.lock();
        let last = clock.since.elapsed();
        let is_working = self.has_worker.load(Ordering::Relaxed);
        if is_working { (clock.worked + last, clock.paused) } else { (clock.worked, clock.paused + last) }
    }

    fn give_back(&self) {
        self.scheduler.change(|state| {
            state.free += 1;
            state.bulk.busy -= 1;
        });
    }
}

impl Drop for BulkPermit {
    fn drop(&mut self) {
        if *self.has_worker.get_mut() {
            self.give_back();
        }
    }
}

impl BulkClock {
    /// Ends a period with the worker.
    fn stop(&mut self) {
        self.worked += self.since.elapsed();
        self.since = Instant::now();
    }

    /// Ends a period without the worker.
    fn start(&mut self) {
        self.paused += self.since.elapsed();
        self.since = Instant::now();
    }
}
