//! Sets of cells on boards with pattern databases.

use crate::domain::Cell;

/// A set of cells, one bit each.
pub(crate) type Cells = u64;

/// The connected regions that a set leaves for the blank, ordered by their first cells.
pub(crate) type Regions = Vec<Cells>;

/// Cells of the largest boards with pattern databases.
pub(crate) const MAX_CELLS: usize = 36;

/// The cells of a set, in ascending order.
pub(crate) fn members(mut set: Cells) -> impl Iterator<Item = Cell> {
    std::iter::from_fn(move || {
        let cell = (set != 0).then(|| set.trailing_zeros() as Cell)?;
        set &= set - 1;
        Some(cell)
    })
}

/// Number of cells of a set before a cell.
pub(crate) fn before(set: Cells, cell: Cell) -> u32 {
    (set & ((1 << cell) - 1)).count_ones()
}
