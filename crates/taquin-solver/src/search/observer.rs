//! Observation of a running search.

use std::fmt::Debug;

use super::Stats;
use crate::domain::Path;

/// Receives the progress of a search and the solutions it finds. The search blocks on both calls, so implementations
/// must return quickly.
///
/// The result and the counters of a search do not depend on its observer.
pub trait Observer: Debug + Sync {
    /// Called some thousand times a second, whenever the search [checks its budget](super::Meter).
    fn reached(&self, progress: Progress);

    /// Called with each solution that is shorter than all before it.
    fn found(&self, path: &Path);
}

/// Progress of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Nodes expanded. A parallel search includes parts that turn out not to be needed.
    pub expanded: u64,
    /// Nodes generated. A parallel search includes completed parts only.
    pub generated: u64,
    /// Proven lower bound on the length of any path to the goal.
    pub lower_bound: u32,
    /// The f-limit of the current iteration, if the search has one.
    pub threshold: Option<u32>,
}

impl From<&Stats> for Progress {
    /// The counters, with no bound proven.
    fn from(stats: &Stats) -> Self {
        Self { expanded: stats.expanded, generated: stats.generated, ..Self::default() }
    }
}

/// Reports the progress of one part of a search, with the counters of earlier parts added.
#[derive(Debug)]
pub(crate) struct PartObserver<'a> {
    pub whole: &'a dyn Observer,
    /// Counters of the earlier parts.
    pub before: Stats,
}

impl Observer for PartObserver<'_> {
    fn reached(&self, progress: Progress) {
        let expanded = self.before.expanded + progress.expanded;
        let generated = self.before.generated + progress.generated;
        self.whole.reached(Progress { expanded, generated, ..progress });
    }

    fn found(&self, path: &Path) {
        self.whole.found(path);
    }
}
