//! Distribution of optimal lengths: how many boards have each.

mod counts;
mod multi_tile_counts;

use std::ops::RangeInclusive;

use super::heuristic::{DistanceTable, GoalClass};
use crate::domain::{Cell, Metric, Size};
use counts::{STORED, StoredCounts};

pub use counts::LengthsSource;

/// Number of boards at each optimal length, of all boards from which a goal can be reached.
///
/// It depends only on the metric, the shape and the blank's goal cell, up to symmetry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Distribution<'t> {
    counts: &'t [u64],
    source: LengthsSource,
}

impl<'t> Distribution<'t> {
    /// The distribution of the boards of a table.
    pub fn of_table(table: &'t DistanceTable) -> Self {
        Self { counts: table.histogram(), source: LengthsSource::Computed }
    }

    /// Number of boards at each length, from 0 to the greatest.
    pub fn counts(&self) -> &'t [u64] {
        self.counts
    }

    /// Origin of the counts.
    pub fn source(&self) -> LengthsSource {
        self.source
    }

    /// Number of all boards: half of the permutations.
    pub fn boards(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The greatest length.
    pub fn greatest(&self) -> u32 {
        self.counts.len() as u32 - 1
    }

    /// Mean of the lengths of all boards.
    pub fn mean(&self) -> f64 {
        let moves: f64 = (0..).zip(self.counts).map(|(length, boards)| f64::from(length) * *boards as f64).sum();
        moves / self.boards() as f64
    }

    /// Share of a number of boards, from 0 to 1.
    pub fn share(&self, boards: u64) -> f64 {
        boards as f64 / self.boards() as f64
    }

    /// Share of the boards with fewer moves than `length`, in percent.
    pub fn percentile(&self, length: u32) -> f64 {
        let shorter: u64 = self.counts.iter().take(length as usize).sum();
        100.0 * shorter as f64 / self.boards() as f64
    }

    /// The lengths whose [percentile](Self::percentile) is in a range; `None` if there are none.
    pub fn lengths_within(&self, percentiles: &RangeInclusive<f64>) -> Option<RangeInclusive<u32>> {
        // Percentiles ascend with the length.
        let mut lengths = (0..=self.greatest()).filter(|length| percentiles.contains(&self.percentile(*length)));
        let first = lengths.next()?;
        Some(first..=lengths.next_back().unwrap_or(first))
    }
}

impl Distribution<'static> {
    /// The stored distribution for a metric, a shape and a goal cell of the blank. In the single-tile metric: 10 to 12
    /// cells, 4×4, and a corner of 2×7, 3×5 and 2×8. In the multi-tile metric: a corner of boards of 10 to 16 cells.
    /// `None` for any other.
    pub fn stored(metric: Metric, size: Size, goal_blank: Cell) -> Option<Self> {
        if !GoalClass::serves(size) {
            return None;
        }
        let class = GoalClass::of(size, goal_blank);
        let is_of_class = |stored: &&StoredCounts| {
            let shape = (stored.rows, stored.cols, stored.goal_blank);
            stored.metric == metric && shape == (class.size.rows(), class.size.cols(), class.goal_blank)
        };
        let stored = STORED.iter().find(is_of_class)?;
        Some(Self { counts: stored.counts, source: stored.source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_counts_are_of_half_of_all_permutations() {
        for stored in &STORED {
            let size = Size::try_from((stored.rows, stored.cols)).unwrap();
            let class = GoalClass { size, goal_blank: stored.goal_blank };
            assert_eq!(GoalClass::of(size, stored.goal_blank), class, "a representative");
            let boards: u64 = (3..=size.cells() as u64).product();
            assert_eq!(stored.counts.iter().sum::<u64>(), boards, "{class:?}");
            assert!(stored.counts.iter().all(|count| *count > 0), "{class:?}");
        }
    }

    #[test]
    fn counts_are_stored_for_the_listed_shapes_and_goals_alone() {
        for size in Size::all() {
            for goal_blank in 0..size.cells() as Cell {
                let (row, col) = (size.row_of(goal_blank), size.col_of(goal_blank));
                let is_corner = [0, size.rows() - 1].contains(&row) && [0, size.cols() - 1].contains(&col);
                let is_stored = |metric| Distribution::stored(metric, size, goal_blank).is_some();
                let is_small = (10..=12).contains(&size.cells());
                let expected = is_small || size.name() == "4×4" || (is_corner && (13..=16).contains(&size.cells()));
                assert_eq!(is_stored(Metric::SingleTile), expected, "{size}, cell {goal_blank}");
                let expected = is_corner && (10..=16).contains(&size.cells());
                assert_eq!(is_stored(Metric::MultiTile), expected, "{size}, cell {goal_blank}");
            }
        }
    }

    #[test]
    fn a_percentile_is_the_share_of_shorter_boards() {
        let table = DistanceTable::build(Size::try_from((3, 3)).unwrap(), 8);
        let lengths = Distribution::of_table(&table);
        assert_eq!((lengths.percentile(0), lengths.greatest(), lengths.boards()), (0.0, 31, 181_440));
        for length in 1..=lengths.greatest() {
            let shorter: u64 = lengths.counts()[..length as usize].iter().sum();
            assert_eq!(lengths.percentile(length), 100.0 * shorter as f64 / 181_440.0);
            assert!(lengths.percentile(length) > lengths.percentile(length - 1));
        }
        assert_eq!(lengths.percentile(31), 100.0 * 181_438.0 / 181_440.0);
    }

    #[test]
    fn percentiles_select_lengths() {
        let corner = Distribution::stored(Metric::SingleTile, Size::try_from((4, 4)).unwrap(), 15).unwrap();
        assert_eq!(corner.lengths_within(&(0.0..=100.0)), Some(0..=80));
        assert_eq!(corner.lengths_within(&(0.0..=0.0)), Some(0..=0));
        let hardest = corner.lengths_within(&(90.0..=100.0)).unwrap();
        assert!(corner.percentile(*hardest.start()) >= 90.0 && corner.percentile(hardest.start() - 1) < 90.0);
        assert_eq!(*hardest.end(), 80);
        assert_eq!(corner.lengths_within(&(100.0..=100.0)), None, "no board is harder than all");
    }
}
