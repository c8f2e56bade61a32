//! Observation of a running search.

use std::fmt::Debug;

use super::Stats;
use crate::domain::Path;

/// Receives the progress of a search and the paths it finds. The search blocks on both calls, so implementations
/// return quickly.
///
/// The result and the counters of a search do not depend on its observer.
pub trait Observer: Debug + Sync {
    /// Called some thousand times a second, whenever the search [checks its budget](super::Meter).
    fn reached(&self, progress: Progress);

    /// Called with each path to the goal that is shorter than all before it.
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

/// Adds the counters of the parts before to the progress of one part of a search.
#[derive(Debug)]
pub(super) struct PartObserver<'a> {
    pub(super) whole: &'a dyn Observer,
    /// Counters of the parts before.
    pub(super) before: Stats,
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
