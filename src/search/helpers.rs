//! Help from other threads. Scheduling is up to the floor above.

use std::fmt::Debug;

/// Threads that may help a search while they are idle.
///
/// The result and the counters of a search do not depend on how much help it gets.
pub trait Helpers: Debug + Sync {
    /// Runs the main work on this thread. Each time it calls the function it receives, and a thread is idle, that
    /// thread runs `help`, until no work is left or the predicate passed to `help` returns true: more important work
    /// is waiting. Returns when all threads have finished.
    fn work(&self, main: MainWork<'_>, help: &Help<'_>);

    /// Called by the search from time to time; blocks while more important work needs this thread.
    fn pause(&self) {}
}

/// Work that may request help.
pub type MainWork<'w> = &'w mut dyn FnMut(&dyn Fn());

/// Work of a helper. It calls the predicate from time to time and returns when that is true.
pub type Help<'w> = dyn Fn(&dyn Fn() -> bool) + Sync + 'w;
