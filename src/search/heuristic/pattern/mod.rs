//! Additive pattern databases: costs of disjoint sets of tiles, which add up.

pub(in crate::search) mod additive;
pub(in crate::search) mod additive_large;
mod cells;
pub(in crate::search) mod database;
mod generate;
mod index;
pub(in crate::search) mod index_16;
pub(in crate::search) mod index_36;
mod partition;
mod permutation;
mod prefetch;
mod row_shift;
pub(in crate::search) mod symmetry;

pub use additive::{AdditivePatterns, Costs};
pub use additive_large::{LargeAdditivePatterns, LargeCosts};
pub use database::{Geometry, PatternTable};
pub use partition::{Partition, Patterns, Tier};
pub use symmetry::{GoalClass, Symmetry};
