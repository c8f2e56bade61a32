//! Limits of a search, its helpers, and its outcome. No other file of this layer reads the clock.

use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::{Observer, Progress, Stats};
use crate::clock::Instant;
use crate::domain::Path;

/// How long an idle helper sleeps between checks for more important work, or for more of the same.
pub(crate) const HELPER_POLL_INTERVAL: Duration = Duration::from_millis(1);

/// The limits of one search.
#[derive(Clone, Copy, Debug)]
pub struct Budget<'a> {
    /// The search stops at this time, if given.
    pub deadline: Option<Instant>,
    /// Maximum number of expanded nodes.
    pub expanded: u64,
    /// Maximum number of nodes in memory.
    pub nodes: u64,
    /// Maximum length of a solution. Only IDA\* and iterative deepening observe it.
    pub depth: u32,
    /// The search stops when any of these flags is set.
    pub cancel: &'a [&'a AtomicBool],
    /// Threads that may help the search. They may also pause it for more important work.
    pub helpers: Option<&'a dyn Helpers>,
    /// Receives the progress of the search.
    pub observer: Option<&'a dyn Observer>,
}

/// A time, and the number of nodes expanded by then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checkpoint {
    at: Instant,
    expanded: u64,
}

impl Checkpoint {
    /// Number of nodes expanded since an earlier one.
    pub(crate) fn nodes_since(self, earlier: Self) -> u64 {
        self.expanded - earlier.expanded
    }
}

/// Why a search ended without a solution.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StopReason {
    /// The deadline passed.
    Time,
    /// The limit on expanded nodes was reached.
    Expanded,
    /// The limit on nodes in memory was reached.
    Nodes,
    /// No solution lies within the depth limit.
    Depth,
    /// The search was cancelled.
    Cancelled,
}

impl Budget<'static> {
    /// A budget without limits.
    pub const UNLIMITED: Self = Self {
        deadline: None,
        expanded: u64::MAX,
        nodes: u64::MAX,
        depth: u32::MAX,
        cancel: &[],
        helpers: None,
        observer: None,
    };
}

impl Budget<'_> {
    /// Checks whether an iteration with this threshold may start.
    ///
    /// # Errors
    /// [`StopReason::Depth`] if the threshold exceeds the maximum length.
    pub(crate) fn check_threshold(&self, threshold: u32) -> Result<(), StopReason> {
        if threshold > self.depth { Err(StopReason::Depth) } else { Ok(()) }
    }

    /// Starts metering.
    pub fn meter(&self) -> Meter<'_> {
        Meter { budget: self, next: self.expanded.min(Meter::INTERVAL) }
    }
}

/// Checks time, expansions and cancel flags of a [`Budget`] at the cost of one comparison per expansion.
#[derive(Debug)]
pub struct Meter<'a> {
    budget: &'a Budget<'a>,
    next: u64,
}

impl<'a> Meter<'a> {
    /// Expansions between two checks of the clock and the flags. They take some tens of microseconds on small boards,
    /// and up to a millisecond on the largest.
    pub const INTERVAL: u64 = 512;

    /// Checks whether one more node may be expanded. `expanded` is the number expanded so far. `progress` is evaluated
    /// only when it is reported to an observer.
    ///
    /// # Errors
    /// If the budget is exhausted.
    #[inline]
    pub fn expand(&mut self, expanded: u64, progress: impl FnOnce() -> Progress) -> Result<(), StopReason> {
        if expanded < self.next { Ok(()) } else { self.poll(expanded, progress) }
    }

    #[cold]
    fn poll(&mut self, expanded: u64, progress: impl FnOnce() -> Progress) -> Result<(), StopReason> {
        self.reached(progress);
        if expanded >= self.budget.expanded {
            return Err(StopReason::Expanded);
        }
        self.pause();
        self.check()?;
        self.next = self.budget.expanded.min(expanded.saturating_add(Self::INTERVAL));
        Ok(())
    }

    /// The current time with the number of expanded nodes.
    pub(crate) fn checkpoint(&self, expanded: u64) -> Checkpoint {
        Checkpoint { at: Instant::now(), expanded }
    }

    /// Number of nodes that may still be expanded, given the number expanded so far.
    pub(crate) fn allowed(&self, expanded: u64) -> u64 {
        self.budget.expanded.saturating_sub(expanded)
    }

    /// Estimated number of nodes that can be expanded before the deadline, at the rate between two checkpoints.
    pub(crate) fn in_time(&self, [from, to]: [Checkpoint; 2]) -> u64 {
        let Some(deadline) = self.budget.deadline else { return u64::MAX };
        let seconds = deadline.saturating_duration_since(Instant::now()).as_secs_f64();
        let took = to.at.saturating_duration_since(from.at).as_secs_f64().max(1e-9);
        (seconds * (to.expanded - from.expanded) as f64 / took) as u64
    }

    /// Reports progress to the observer, if any.
    pub(crate) fn reached(&self, progress: impl FnOnce() -> Progress) {
        if let Some(observer) = self.budget.observer {
            observer.reached(progress());
        }
    }

    /// Reports a path shorter than all before it to the observer, if any.
    pub(crate) fn found(&self, path: &Path) {
        if let Some(observer) = self.budget.observer {
            observer.found(path);
        }
    }

    /// The helpers, if any.
    pub(crate) fn helpers(&self) -> Option<&'a dyn Helpers> {
        self.budget.helpers
    }

    /// Blocks while more important work needs this thread.
    pub fn pause(&self) {
        if let Some(helpers) = self.budget.helpers {
            helpers.pause();
        }
    }

    /// Checks the clock and the flags now.
    ///
    /// # Errors
    /// If the deadline has passed or a flag is set.
    pub fn check(&self) -> Result<(), StopReason> {
        if self.budget.cancel.iter().any(|flag| flag.load(Ordering::Relaxed)) {
            return Err(StopReason::Cancelled);
        }
        if self.budget.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(StopReason::Time);
        }
        Ok(())
    }
}

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

/// Result of a search: a path, a lower bound and counters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The solution, or why the search stopped. Anytime search stops with an error until a solution is proven optimal.
    pub result: Result<Path, StopReason>,
    /// The shortest solution known when the search stopped early, if any.
    pub best: Option<Path>,
    /// Proven lower bound on the length of any path to the goal, whatever the result.
    pub lower_bound: u32,
    /// The counters.
    pub stats: Stats,
}

impl Outcome {
    /// True if a path was found and is proven shortest.
    pub fn is_optimal(&self) -> bool {
        self.result.as_ref().is_ok_and(|path| path.len() == self.lower_bound as usize)
    }
}
