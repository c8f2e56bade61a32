//! Views: the symmetries under which a board is looked up.

use super::cells::MAX_CELLS;
use super::database::{PatternEntry, PatternTable};
use super::partition::Partition;
use super::symmetry::{Symmetry, VIEWS};
use crate::domain::{Cell, Packed, Size};
use crate::search::State;
use crate::search::heuristic::{Part, PartOf};

/// Number of labels, rounded up to a power of two so that no bounds check is needed.
const LABELS: usize = MAX_CELLS.next_power_of_two();

/// The tables of a partition, and the symmetries under which boards are looked up in them.
#[derive(Clone, Debug)]
pub(crate) struct View<'t> {
    /// Maps the board to the partition's class.
    symmetry: Symmetry,
    /// By pattern: maps the board to the one of the table's look-ups.
    symmetries: Vec<Symmetry>,
    /// By label, before the symmetry: the pattern that contains it.
    pattern_of: [u8; LABELS],
    tables: &'t [PatternTable],
}

impl<'t> View<'t> {
    /// The views of boards of a shape and goal of the partitions' class.
    ///
    /// Two partitions are used as they are. A single one is used under two symmetries, if there are two.
    ///
    /// # Panics
    /// If a partition has more than `max_patterns` patterns.
    pub(crate) fn all(
        size: Size,
        goal_blank: Cell,
        partitions: &'t [Partition],
        max_patterns: usize,
    ) -> impl Iterator<Item = Self> {
        assert!(partitions.iter().all(|partition| partition.tables().len() <= max_patterns), "too many patterns");
        let per_partition = if partitions.len() > 1 { 1 } else { VIEWS };
        let views = partitions.iter().flat_map(move |partition| {
            let symmetries = partition.class().symmetries_from(size, goal_blank).take(per_partition);
            symmetries.map(move |symmetry| Self::new(size, goal_blank, symmetry, partition.tables()))
        });
        views.take(VIEWS)
    }

    fn new(size: Size, goal_blank: Cell, symmetry: Symmetry, tables: &'t [PatternTable]) -> Self {
        let mut pattern_of = [0; LABELS];
        for label in (0..size.cells() as u8).filter(|label| *label != goal_blank) {
            let pattern = tables.iter().position(|table| table.labels().contains(&symmetry.cell(label)));
            pattern_of[usize::from(label)] = pattern.expect("each tile is in a pattern") as u8;
        }
        let symmetries = tables.iter().map(|table| symmetry.then(table.symmetry())).collect();
        Self { symmetry, symmetries, pattern_of, tables }
    }

    pub(crate) fn tables(&self) -> &'t [PatternTable] {
        self.tables
    }

    /// The pattern of a label.
    #[inline(always)]
    pub(crate) fn pattern(&self, label: u8) -> usize {
        usize::from(self.pattern_of[usize::from(label) % LABELS])
    }

    /// The images of two cells on the board of a pattern's table; of any, if there are fewer patterns.
    #[inline]
    pub(crate) fn images(&self, pattern: usize, from: Cell, to: Cell) -> (Cell, Cell) {
        let symmetry = self.symmetries.get(pattern).unwrap_or(&self.symmetries[0]);
        (symmetry.cell(from), symmetry.cell(to))
    }

    /// Placement and cost of each pattern's tiles on a board.
    pub(crate) fn entries<P: Packed>(&self, state: &State<P>) -> impl Iterator<Item = PatternEntry> {
        self.tables.iter().zip(&self.symmetries).map(|(table, symmetry)| {
            let mut labels = [0; MAX_CELLS];
            for cell in 0..symmetry.size().cells() as Cell {
                labels[usize::from(symmetry.cell(cell))] = symmetry.cell(state.tiles.get(cell));
            }
            table.find(|cell| labels[usize::from(cell)], symmetry.cell(state.blank))
        })
    }

    /// The cost of each pattern.
    fn parts<P: Packed>(&self, state: &State<P>) -> Vec<Part> {
        let labels_of = |table: &PatternTable| {
            let is_in_table = |label: &u8| table.labels().contains(&self.symmetry.cell(*label));
            (0..self.symmetry.size().cells() as u8).filter(is_in_table).collect()
        };
        let entries = self.tables.iter().zip(self.entries(state));
        let part = |(table, entry): (&PatternTable, PatternEntry)| Part {
            of: PartOf::Pattern,
            labels: labels_of(table),
            cost: u32::from(entry.cost),
        };
        entries.map(part).collect()
    }
}

/// The parts of the view with the largest sum, the first of several.
pub(crate) fn parts_of_largest<'v, 't: 'v, P: Packed>(
    views: impl Iterator<Item = &'v View<'t>>,
    state: &State<P>,
) -> Vec<Part> {
    let sum = |parts: &[Part]| parts.iter().map(|part| part.cost).sum::<u32>();
    let larger = |first: Vec<Part>, second: Vec<Part>| if sum(&second) > sum(&first) { second } else { first };
    views.map(|view| view.parts(state)).reduce(larger).unwrap_or_default()
}

/// Updates the costs of one view after another. `update` returns the sum of a view's costs, the larger one of twin
/// partitions.
///
/// # Errors
/// The first sum above `limit`.
#[inline(always)]
pub(crate) fn update_within<C>(
    mut costs: C,
    views: usize,
    limit: i32,
    update: impl Fn(&mut C, usize) -> u32,
) -> Result<C, u32> {
    for view in 0..views {
        let sum = update(&mut costs, view);
        if sum as i32 > limit {
            return Err(sum);
        }
    }
    Ok(costs)
}
