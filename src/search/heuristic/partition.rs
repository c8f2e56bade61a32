//! All tiles, in patterns.

use std::sync::Arc;

use super::goal_class::GoalClass;
use super::pattern_table::{Geometry, PatternTable};
use crate::domain::Size;

/// Disjoint patterns that together have every tile.
#[derive(Clone, Debug)]
pub struct Partition {
    class: GoalClass,
    tables: Vec<PatternTable>,
}

impl Partition {
    /// The most patterns there can be.
    pub const MAX_PATTERNS: usize = 3;

    /// Puts tables together.
    ///
    /// # Panics
    /// If a tile is in two of them or in none.
    pub fn new(class: GoalClass, tables: Vec<PatternTable>) -> Self {
        assert!(tables.len() <= Self::MAX_PATTERNS, "too many patterns");
        let mut labels: Vec<u8> = tables.iter().flat_map(|table| table.labels().iter().copied()).collect();
        labels.sort_unstable();
        assert!(labels.into_iter().eq((0..class.size.cells() as u8).filter(|label| *label != class.goal_blank)));
        Self { class, tables }
    }

    /// Measures the patterns of a partition one after another.
    pub fn build(class: GoalClass, patterns: &[Vec<u8>]) -> Self {
        let build = |(labels, geometry): (&Vec<u8>, Arc<Geometry>)| {
            PatternTable::build(class.size, class.goal_blank, labels, &geometry)
        };
        Self::new(class, patterns.iter().zip(Self::geometries(class, patterns)).map(build).collect())
    }

    /// The geometry of each pattern, one for all that have as many tiles: what is looked up in it for
    /// one is at hand for the other.
    pub fn geometries(class: GoalClass, patterns: &[Vec<u8>]) -> Vec<Arc<Geometry>> {
        let mut geometries: Vec<Arc<Geometry>> = Vec::new();
        for (at, labels) in patterns.iter().enumerate() {
            let alike = patterns[..at].iter().position(|earlier| earlier.len() == labels.len());
            geometries.push(match alike {
                Some(alike) => Arc::clone(&geometries[alike]),
                None => Arc::new(Geometry::new(class.size, labels.len())),
            });
        }
        geometries
    }

    /// Patterns that take some megabytes and a tenth of a second, for any class.
    ///
    /// Those of a 15-puzzle with the blank in a corner were measured to be among the best of their
    /// size; other tiles are taken column by column, six at a time.
    pub fn small(class: GoalClass) -> Vec<Vec<u8>> {
        if class == Self::corner_of_4x4() {
            return vec![vec![1, 4, 5, 8, 9, 12], vec![2, 3, 6, 7, 10, 11], vec![13, 14, 15]];
        }
        let mut tiles: Vec<u8> = (0..class.size.cells() as u8).filter(|label| *label != class.goal_blank).collect();
        // Columns are no longer than rows, so tiles of the same columns lie close together.
        tiles.sort_by_key(|label| (class.size.col_of(*label), *label));
        let sorted = |tiles: &[u8]| {
            let mut pattern = tiles.to_vec();
            pattern.sort_unstable();
            pattern
        };
        tiles.chunks(6).map(sorted).collect()
    }

    /// Patterns that take 35 MB and a second and a half of one core, for 15-puzzles whose blank belongs
    /// in a corner.
    pub fn large(class: GoalClass) -> Option<Vec<Vec<u8>>> {
        let patterns = || vec![(1..=7).collect(), vec![8, 9, 10, 12, 13, 14, 15], vec![11]];
        (class == Self::corner_of_4x4()).then(patterns)
    }

    fn corner_of_4x4() -> GoalClass {
        GoalClass { size: Size::try_from((4, 4)).expect("a size"), goal_blank: 0 }
    }

    /// What it is for.
    pub fn class(&self) -> GoalClass {
        self.class
    }

    pub(super) fn tables(&self) -> &[PatternTable] {
        &self.tables
    }

    /// How many tiles each pattern has, as people write it: `7-7-1`.
    pub fn name(&self) -> String {
        let tiles: Vec<String> = self.tables.iter().map(|table| table.labels().len().to_string()).collect();
        tiles.join("-")
    }

    /// Memory it takes.
    pub fn bytes(&self) -> usize {
        self.tables.iter().map(|table| table.bytes() + table.geometry().bytes()).sum()
    }
}
