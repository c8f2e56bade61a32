//! How long the suite may take, and what it measures.

use std::env;
use std::fmt::Display;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Whether this is the long form.
pub(crate) fn is_long() -> bool {
    env::var("TAQUIN_CHAOS").is_ok_and(|form| form == "long")
}

/// One number or another, by the form.
pub(crate) fn short_or_long<T>(short: T, long: T) -> T {
    if is_long() { long } else { short }
}

/// What is measured is disturbed by nothing else in this suite for as long as this is held.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A line of the table.
pub(crate) fn tell(what: &str, bound: impl Display, measured: impl Display) {
    println!("\n| {what} | {bound} | {measured} |");
}

/// Tells the worst of some times and holds it against its bound. The short form, in a debug build and on a machine with
/// other work, allows ten times as much.
#[track_caller]
pub(crate) fn within(what: &str, bound: Duration, worst: Duration, rest: impl Display) {
    tell(what, format!("{bound:?}"), format!("{worst:.1?}{rest}"));
    let allowed = bound * short_or_long(10, 1);
    assert!(worst <= allowed, "{what}: {worst:?}, and {allowed:?} are allowed");
}

/// Times, in order.
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn new(mut times: Vec<Duration>) -> Self {
        assert!(!times.is_empty(), "nothing was measured");
        times.sort_unstable();
        Self(times)
    }

    /// Percentile by nearest rank: the shortest time that at least `percent` of a hundred times do not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        self.0[(self.0.len() * percent).div_ceil(100).max(1) - 1]
    }

    pub(crate) fn worst(&self) -> Duration {
        self.0[self.0.len() - 1]
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }
}
