//! What threads share without getting into each other's way.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// In how many parts something is kept, so that threads seldom touch the same.
///
/// A cache line that two cores write by turns travels between them each time, and a request comes to
/// its span ten times (docs/adr/0022).
pub(super) const LANES: usize = 8;

/// One of these parts, with cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Lane<T>(Mutex<T>);

impl<T> Lane<T> {
    /// A panic while it was locked has left it whole.
    pub(super) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The part of the thread that asks.
pub(super) fn lane() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: usize = NEXT.fetch_add(1, Ordering::Relaxed) % LANES;
    }
    OWN.with(|lane| *lane)
}
