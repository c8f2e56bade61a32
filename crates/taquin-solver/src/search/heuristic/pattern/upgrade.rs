//! Stronger tables that arrive while a search runs.

use std::fmt::Debug;

use super::partition::{Partition, Tier};
use crate::domain::{Cell, Size};

/// A source of pattern tables that may become stronger while a search runs. The layer above loads them.
pub trait TableUpgrade: Debug + Sync {
    /// True if there are tables of a higher tier. Searches ask thousands of times a second.
    fn has_better(&self, than: Tier) -> bool;

    /// The strongest tables of the goal class, if they are of a higher tier. The search continues with them.
    fn take_better(&self, than: Tier) -> Option<(Tier, &[Partition])>;
}

/// The boards that a heuristic serves, and the source of stronger tables for them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Upgrade<'t> {
    pub size: Size,
    pub goal_blank: Cell,
    /// The source, and the tier of the heuristic's tables.
    pub source: Option<(&'t dyn TableUpgrade, Tier)>,
}

impl<'t> Upgrade<'t> {
    pub(super) fn has_better(&self) -> bool {
        self.source.is_some_and(|(source, tier)| source.has_better(tier))
    }

    /// The stronger tables, and the upgrade of a heuristic with them.
    pub(super) fn take_better(&self) -> Option<(&'t [Partition], Self)> {
        let (source, tier) = self.source?;
        let (tier, partitions) = source.take_better(tier)?;
        Some((partitions, Self { source: Some((source, tier)), ..*self }))
    }
}
