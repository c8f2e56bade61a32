//! Sets of cells.

use crate::domain::Cell;

/// A set of cells, one bit each.
pub(super) type CellSet = u128;

/// The set of a single cell.
pub(super) fn bit(cell: Cell) -> CellSet {
    1 << cell
}

/// The set of some cells.
pub(super) fn set_of(cells: impl IntoIterator<Item = Cell>) -> CellSet {
    cells.into_iter().fold(0, |set, cell| set | bit(cell))
}

/// True if the set contains the cell.
pub(super) fn contains(set: CellSet, cell: Cell) -> bool {
    set & bit(cell) != 0
}

/// The cells of a set, in ascending order.
pub(super) fn cells_of(set: CellSet) -> impl Iterator<Item = Cell> {
    std::iter::successors(Some(set), |set| Some(set & set.wrapping_sub(1)))
        .take_while(|set| *set != 0)
        .map(|set| set.trailing_zeros() as Cell)
}
