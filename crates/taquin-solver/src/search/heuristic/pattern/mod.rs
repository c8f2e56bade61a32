//! Additive pattern databases: tables of the moves of disjoint sets of tiles, which add up.

pub(crate) mod additive;
pub(crate) mod additive_large;
mod cells;
pub(crate) mod database;
mod disjoint;
mod generate;
#[cfg_attr(not(feature = "huge-pages"), path = "heap_vec.rs")]
mod huge_vec;
mod index;
pub(crate) mod index_16;
pub(crate) mod index_36;
mod partition;
mod permutation;
mod row_shift;
mod shared_tables;
pub(crate) mod symmetry;
mod tile_patterns;
pub(crate) mod view;

pub use additive::{AdditivePatterns, Costs};
pub use additive_large::{LargeAdditivePatterns, LargeCosts, LargeSums};
pub use database::{Geometry, PatternTable};
pub use disjoint::{DisjointCosts, DisjointPatterns, PatternUse};
pub use huge_vec::HugeVec;
pub use partition::{Partition, Patterns, TableUpgrade, Tier};
pub use symmetry::{GoalClass, Symmetry};
pub use tile_patterns::{PatternFault, PatternReason, TilePatterns};
