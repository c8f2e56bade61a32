//! Short and long form of the suite, and its measurements.

use std::env;
use std::fmt::Display;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

/// True in the long form.
pub(crate) fn is_long() -> bool {
    env::var("TAQUIN_CHAOS").is_ok_and(|form| form == "long")
}

/// Selects a value by the form.
pub(crate) fn short_or_long<T>(short: T, long: T) -> T {
    if is_long() { long } else { short }
}

/// While a test holds the guard, no other test that takes it runs.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock()
}

/// Prints a line of the table.
pub(crate) fn print_row(what: &str, bound: impl Display, measured: impl Display) {
    println!("\n| {what} | {bound} | {measured} |");
}

/// Prints the worst of several times, and checks it against its bound. The short form allows ten times as much, because
/// it runs in a debug build on a busy machine.
#[track_caller]
pub(crate) fn assert_within(what: &str, bound: Duration, worst: Duration, rest: impl Display) {
    print_row(what, format!("{bound:?}"), format!("{worst:.1?}{rest}"));
    let allowed = bound * short_or_long(10, 1);
    assert!(worst <= allowed, "{what}: {worst:?}, and {allowed:?} are allowed");
}

/// Sorted times.
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn new(mut times: Vec<Duration>) -> Self {
        assert!(!times.is_empty(), "nothing was measured");
        times.sort_unstable();
        Self(times)
    }

    /// Percentile by nearest rank: the shortest time that `percent` of every hundred times do not exceed.
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
