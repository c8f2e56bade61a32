//! Help from other threads. The layer above schedules it.

use std::fmt::Debug;

/// Threads that may help a search while they are idle.
///
/// The result and the counters of a search do not depend on how much help it gets.
pub trait Helpers: Debug + Sync {
    /// Runs `main` on this thread, and returns when all threads have finished.
    ///
    /// `main` receives a function that requests help. At each call of it, an idle thread, if there is one, starts to
    /// run `help`. That thread returns when no work is left, or when the predicate passed to `help` returns true
    /// because more important work is waiting.
    fn work(&self, main: MainWork<'_>, help: &Help<'_>);

    /// Blocks while more important work needs this thread. Searches call it from time to time.
    fn pause(&self) {}
}

/// Work that may request help by calling the function it receives.
pub type MainWork<'w> = &'w mut dyn FnMut(&dyn Fn());

/// Work of a helper. It calls the predicate from time to time, and returns once that is true.
pub type Help<'w> = dyn Fn(&dyn Fn() -> bool) + Sync + 'w;
