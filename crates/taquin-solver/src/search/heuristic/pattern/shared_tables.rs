//! Patterns that share a table.
//!
//! A symmetry of the board maps a pattern to another one. The costs of both are equal if it also maps the blank's goal
//! cell into the region in which the blank is when the other pattern is home: the blank moves freely within a region.
//! The goal cell itself may move.

use super::cells::Cells;
use super::index::{neighbors, region};
use super::symmetry::{GoalClass, Symmetry};

/// An earlier pattern whose table a pattern shares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedTable {
    /// Its index.
    pub pattern: usize,
    /// Maps this pattern to the earlier one.
    pub symmetry: Symmetry,
}

/// By pattern, in order: the earlier one whose table it shares, if any. That one has a table of its own.
pub(crate) fn shared_tables<'p>(
    class: GoalClass,
    patterns: impl IntoIterator<Item = &'p Vec<u8>>,
) -> Vec<Option<SharedTable>> {
    let patterns: Vec<&Vec<u8>> = patterns.into_iter().collect();
    let mut shared: Vec<Option<SharedTable>> = Vec::with_capacity(patterns.len());
    for labels in &patterns {
        let mut with_tables = shared.iter().enumerate().filter(|(_, shared)| shared.is_none()).map(|(nth, _)| nth);
        let first = with_tables.find_map(|pattern| {
            let symmetry = symmetry_between(class, labels, patterns[pattern])?;
            Some(SharedTable { pattern, symmetry })
        });
        shared.push(first);
    }
    shared
}

/// A symmetry that maps a pattern to another one with equal costs, if there is one.
pub(crate) fn symmetry_between(class: GoalClass, pattern: &[u8], other: &[u8]) -> Option<Symmetry> {
    let (neighbors, home) = (neighbors(class.size), set_of(other));
    let goal_region = region(&neighbors, home, class.goal_blank);
    let mut symmetries = Symmetry::all(class.size).filter(|symmetry| symmetry.size() == class.size);
    symmetries.find(|symmetry| {
        let image: Vec<u8> = pattern.iter().map(|label| symmetry.cell(*label)).collect();
        set_of(&image) == home && goal_region & 1 << symmetry.cell(class.goal_blank) != 0
    })
}

/// The set of a pattern's goal cells.
fn set_of(labels: &[u8]) -> Cells {
    labels.iter().fold(0, |set, label| set | 1 << label)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::domain::Cell;
    use crate::domain::{RandomSource, SplitMix};
    use crate::search::heuristic::pattern::database::{Geometry, PatternTable};

    /// Fisher-Yates shuffle.
    fn shuffle(random: &mut SplitMix, items: &mut [u8]) {
        for left in (1..items.len()).rev() {
            items.swap(left, random.below(left as u64 + 1) as usize);
        }
    }

    /// Cost of a pattern on a board, by its table.
    fn cost(table: &PatternTable, labels: &[u8], blank: Cell) -> u8 {
        let symmetry = table.symmetry();
        let mut turned = vec![0; labels.len()];
        for (cell, label) in (0..).zip(labels) {
            turned[usize::from(symmetry.cell(cell))] = symmetry.cell(*label);
        }
        table.find(|cell| turned[usize::from(cell)], symmetry.cell(blank)).cost
    }

    #[test]
    fn shared_tables_have_the_costs_of_their_patterns() {
        let mut random = SplitMix(61);
        let (mut moved, mut refused) = (0, 0);
        for class in GoalClass::all().filter(|class| class.size.cells() == 10 || class.size.cells() == 12) {
            let GoalClass { size, goal_blank } = class;
            let geometry = Arc::new(Geometry::new(size, 3));
            let table = |labels: &[u8]| PatternTable::build(goal_blank, labels, &geometry);
            for _ in 0..20 {
                let mut tiles: Vec<u8> = (0..size.cells() as u8).filter(|label| *label != goal_blank).collect();
                shuffle(&mut random, &mut tiles);
                let mut pattern = tiles[..3].to_vec();
                pattern.sort_unstable();
                let own = table(&pattern);
                for symmetry in Symmetry::all(size).filter(|symmetry| symmetry.size() == size) {
                    let mut other: Vec<u8> = pattern.iter().map(|label| symmetry.cell(*label)).collect();
                    other.sort_unstable();
                    if other.contains(&goal_blank) {
                        continue;
                    }
                    let Some(symmetry) = symmetry_between(class, &pattern, &other) else {
                        refused += 1;
                        continue;
                    };
                    moved += usize::from(symmetry.cell(goal_blank) != goal_blank);
                    let shared = table(&other).of_image(&pattern, &symmetry);
                    assert_eq!(shared.labels(), pattern);
                    for _ in 0..50 {
                        let mut board: Vec<u8> = (0..size.cells() as u8).collect();
                        shuffle(&mut random, &mut board);
                        let blank = board.iter().position(|label| *label == goal_blank).unwrap() as Cell;
                        assert_eq!(cost(&shared, &board, blank), cost(&own, &board, blank), "{pattern:?} of {class:?}");
                    }
                }
            }
        }
        assert!(moved > 100 && refused > 10, "{moved} moved, {refused} refused");
    }
}
