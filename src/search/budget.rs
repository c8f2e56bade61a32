//! What a search may spend. The only file of this floor that knows a clock.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{Crew, Progress, Witness};
use crate::domain::Path;

/// For how long whoever helps waits before they ask again whether others need them.
pub(super) const MOMENT: Duration = Duration::from_millis(1);

/// The limits of one search.
#[derive(Clone, Copy, Debug)]
pub struct Budget<'a> {
    /// When to stop, if ever.
    pub deadline: Option<Instant>,
    /// How many nodes may be expanded.
    pub expanded: u64,
    /// How many nodes may be held in memory.
    pub nodes: u64,
    /// Flags of which any, once raised, stops the search.
    pub cancel: &'a [&'a AtomicBool],
    /// Who may help, and whose turn it may be instead.
    pub crew: Option<&'a dyn Crew>,
    /// Who sees how it goes.
    pub witness: Option<&'a dyn Witness>,
}

/// A moment of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    at: Instant,
    expanded: u64,
}

/// Why a search ended without a solution.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StopReason {
    /// The deadline passed.
    Time,
    /// As many nodes as allowed were expanded.
    Expanded,
    /// As many nodes as allowed were in memory.
    Nodes,
    /// No solution lies within the depth limit.
    Depth,
    /// Nobody waits for the answer any more.
    Cancelled,
}

impl Budget<'static> {
    /// No limit at all.
    pub const UNLIMITED: Self =
        Self { deadline: None, expanded: u64::MAX, nodes: u64::MAX, cancel: &[], crew: None, witness: None };
}

impl Budget<'_> {
    /// Starts to count.
    pub fn meter(&self) -> Meter<'_> {
        Meter { budget: self, next: self.expanded.min(Meter::INTERVAL) }
    }
}

/// Watches a [`Budget`]'s time, expansions and flags at the cost of one comparison per expansion.
#[derive(Debug)]
pub struct Meter<'a> {
    budget: &'a Budget<'a>,
    next: u64,
}

impl<'a> Meter<'a> {
    /// Expansions between two looks at the clock and the flags: some tens of microseconds on small
    /// boards, up to a millisecond on the largest.
    pub const INTERVAL: u64 = 512;

    /// Asks to expand one node more, `expanded` being how many were; `progress` is asked for now and then, if there is
    /// a witness to be told.
    ///
    /// # Errors
    /// When the budget does not allow it.
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
        self.look()?;
        self.next = self.budget.expanded.min(expanded.saturating_add(Self::INTERVAL));
        Ok(())
    }

    /// A moment, when so many nodes were expanded.
    pub(super) fn mark(&self, expanded: u64) -> Mark {
        Mark { at: Instant::now(), expanded }
    }

    /// How many nodes may still be expanded, `expanded` being how many were.
    pub(super) fn allowed(&self, expanded: u64) -> u64 {
        self.budget.expanded.saturating_sub(expanded)
    }

    /// How many nodes there is time for if they take as long as those between two moments.
    pub(super) fn in_time(&self, [from, to]: [Mark; 2]) -> u64 {
        let Some(deadline) = self.budget.deadline else { return u64::MAX };
        let seconds = deadline.saturating_duration_since(Instant::now()).as_secs_f64();
        let took = to.at.saturating_duration_since(from.at).as_secs_f64().max(1e-9);
        (seconds * (to.expanded - from.expanded) as f64 / took) as u64
    }

    /// Tells the witness, if there is one, how far the search is.
    pub(super) fn reached(&self, progress: impl FnOnce() -> Progress) {
        if let Some(witness) = self.budget.witness {
            witness.reached(progress());
        }
    }

    /// Tells the witness, if there is one, of a path that is shorter than those before.
    pub(super) fn found(&self, path: &Path) {
        if let Some(witness) = self.budget.witness {
            witness.found(path);
        }
    }

    /// Who may help.
    pub(super) fn crew(&self) -> Option<&'a dyn Crew> {
        self.budget.crew
    }

    /// Lets others search, if it is their turn.
    pub fn pause(&self) {
        if let Some(crew) = self.budget.crew {
            crew.pause();
        }
    }

    /// Looks at the clock and the flags now.
    ///
    /// # Errors
    /// When they say that the search is over.
    pub fn look(&self) -> Result<(), StopReason> {
        if self.budget.cancel.iter().any(|flag| flag.load(Ordering::Relaxed)) {
            return Err(StopReason::Cancelled);
        }
        if self.budget.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(StopReason::Time);
        }
        Ok(())
    }
}
