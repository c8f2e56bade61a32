//! Who sees a search while it goes on.

use std::fmt::Debug;

use super::Stats;
use crate::domain::Path;

/// Sees how far a search is and what it has found so far. The search waits for neither call, so both are over in a moment,
/// whoever else wants to know of it.
///
/// What a search finds, and what it counts, does not depend on who sees it.
pub trait Witness: Debug + Sync {
    /// How far it is: told when the search [looks up](super::Meter), some thousand times a second.
    fn reached(&self, progress: Progress);

    /// A path to the goal that is shorter than all that were told before.
    fn found(&self, path: &Path);
}

/// How far a search is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Nodes expanded. Where threads search parts at the same time, this counts parts too that turn out not to be needed.
    pub expanded: u64,
    /// Nodes generated; where threads search parts at the same time, of the parts that were searched in full.
    pub generated: u64,
    /// No path to the goal is shorter: proven.
    pub lower_bound: u32,
    /// The f-limit of the iteration in hand, if the search is in one.
    pub threshold: Option<u32>,
}

impl From<&Stats> for Progress {
    /// What the counters say; nothing is proven.
    fn from(stats: &Stats) -> Self {
        Self { expanded: stats.expanded, generated: stats.generated, ..Self::default() }
    }
}

/// Sees one part of a search, and tells of the whole.
#[derive(Debug)]
pub(super) struct PartWitness<'a> {
    pub(super) whole: &'a dyn Witness,
    /// What was spent before the part.
    pub(super) before: Stats,
}

impl Witness for PartWitness<'_> {
    fn reached(&self, progress: Progress) {
        let expanded = self.before.expanded + progress.expanded;
        let generated = self.before.generated + progress.generated;
        self.whole.reached(Progress { expanded, generated, ..progress });
    }

    fn found(&self, path: &Path) {
        self.whole.found(path);
    }
}
