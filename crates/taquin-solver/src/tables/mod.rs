//! Precomputed tables, and where a solver finds them.

mod lazy_tables;
mod pattern_tables;
mod small_tables;
mod stage_cache;

use std::fmt;
use std::sync::Arc;

pub use lazy_tables::LazyTables;
pub use pattern_tables::PatternTables;
pub use small_tables::SmallTables;

use crate::search::heuristic::GoalClass;

/// Where a solver finds its tables. [`LazyTables`] builds them on first use and keeps them; a service may bring a
/// cache.
pub trait TableSource: fmt::Debug + Send + Sync {
    /// The small tables.
    fn small(&self) -> &SmallTables;

    /// The strongest pattern tables of a class at hand. If there are none, some are built.
    fn patterns(&self, class: GoalClass) -> Arc<PatternTables>;

    /// The strongest pattern tables of a class at hand, if any.
    fn loaded_patterns(&self, class: GoalClass) -> Option<Arc<PatternTables>>;

    /// True if stronger pattern tables than these may be at hand later.
    fn may_improve(&self, _: &PatternTables) -> bool {
        false
    }

    /// Drops pattern tables that led to a wrong solution: the memory is damaged.
    fn drop_wrong_patterns(&self, _: &Arc<PatternTables>) {}
}
