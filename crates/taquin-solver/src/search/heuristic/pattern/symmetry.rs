//! Symmetries of boards and goals.

use super::cells::MAX_CELLS;
use crate::domain::{Cell, Size};
use crate::search::heuristic::DistanceTable;

/// Maximum number of views: symmetries under which a board is looked up.
pub(crate) const VIEWS: usize = 2;

/// A class of shapes and goals that are equal under rotation and reflection, given by its representative: no more rows
/// than columns, and the blank's goal in the first cell that a symmetry maps it to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct GoalClass {
    /// The shape.
    pub size: Size,
    /// The blank's goal cell.
    pub goal_blank: Cell,
}

/// A mapping of the cells of one board to the cells of another that preserves adjacency.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Symmetry {
    /// Shape of the target board.
    size: Size,
    /// Target of each cell.
    cells: [Cell; Self::CELLS],
}

impl Symmetry {
    /// A power of two, so that no bounds check is needed.
    const CELLS: usize = MAX_CELLS.next_power_of_two();

    /// All symmetries of a shape, onto itself and onto the transposed shape.
    pub fn all(size: Size) -> impl Iterator<Item = Self> {
        let turned = Size::try_from((size.cols(), size.rows())).unwrap_or(size);
        (0..8).map(move |kind| {
            let (is_turned, is_row_flipped, is_col_flipped) = (kind & 4 != 0, kind & 2 != 0, kind & 1 != 0);
            let mut cells = [0; Self::CELLS];
            for cell in 0..size.cells() as Cell {
                let (row, col) = (size.row_of(cell), size.col_of(cell));
                let row = if is_row_flipped { size.rows() - 1 - row } else { row };
                let col = if is_col_flipped { size.cols() - 1 - col } else { col };
                let target = if is_turned { turned.cell_at(col, row) } else { size.cell_at(row, col) };
                cells[usize::from(cell)] = target;
            }
            Self { size: if is_turned { turned } else { size }, cells }
        })
    }

    /// The symmetry that changes nothing.
    pub(crate) fn identity(size: Size) -> Self {
        Self { size, cells: std::array::from_fn(|cell| cell as Cell) }
    }

    /// This symmetry, and then another one of the target board.
    pub(crate) fn then(&self, other: &Self) -> Self {
        Self { size: other.size, cells: self.cells.map(|cell| other.cell(cell)) }
    }

    /// Shape of the target board.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Target of a cell.
    #[inline]
    pub fn cell(&self, cell: Cell) -> Cell {
        self.cells[usize::from(cell) % Self::CELLS]
    }
}

impl GoalClass {
    /// Cells of the largest boards with pattern databases.
    pub const MAX_CELLS: usize = MAX_CELLS;

    /// Every class of boards with pattern databases.
    pub fn all() -> impl Iterator<Item = Self> {
        let sizes = Size::all().filter(|size| Self::serves(*size) && size.rows() <= size.cols());
        let goals = sizes.flat_map(|size| (0..size.cells() as Cell).map(move |goal_blank| Self { size, goal_blank }));
        goals.filter(|class| Self::of(class.size, class.goal_blank) == *class)
    }

    /// 15-puzzles with the blank's goal in a corner.
    pub fn corner_of_4x4() -> Self {
        Self { size: Size::try_from((4, 4)).expect("4×4 is a valid size"), goal_blank: 0 }
    }

    /// True if boards of a shape have pattern databases: they have too many cells for a table of all boards, and few
    /// enough for patterns to be useful.
    pub fn serves(size: Size) -> bool {
        size.cells() > DistanceTable::MAX_CELLS && size.cells() <= MAX_CELLS
    }

    /// True if its boards have more than sixteen cells.
    pub fn has_large_boards(self) -> bool {
        self.size.cells() > super::index_16::MAX_CELLS
    }

    /// The class of a shape and the blank's goal cell.
    pub fn of(size: Size, goal_blank: Cell) -> Self {
        let is_landscape = |symmetry: &Symmetry| symmetry.size.rows() <= symmetry.size.cols();
        let targets =
            Symmetry::all(size).filter(is_landscape).map(|symmetry| (symmetry.size, symmetry.cell(goal_blank)));
        let (size, goal_blank) = targets.min_by_key(|(_, cell)| *cell).unwrap_or((size, goal_blank));
        Self { size, goal_blank }
    }

    /// True if a reflection keeps the blank's goal cell.
    pub fn is_mirrored(self) -> bool {
        self.symmetries_from(self.size, self.goal_blank).count() > 1
    }

    /// The symmetries that map boards of a shape and goal to this class.
    pub(crate) fn symmetries_from(self, size: Size, goal_blank: Cell) -> impl Iterator<Item = Symmetry> {
        Symmetry::all(size)
            .filter(move |symmetry| symmetry.size == self.size && symmetry.cell(goal_blank) == self.goal_blank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_15_puzzle_has_three_classes() {
        let size = Size::try_from((4, 4)).unwrap();
        let classes: Vec<Cell> =
            GoalClass::all().filter(|class| class.size == size).map(|class| class.goal_blank).collect();
        assert_eq!(classes, [0, 1, 5]);
        for (goal_blank, class) in [(0, 0), (3, 0), (12, 0), (15, 0), (1, 1), (8, 1), (14, 1), (6, 5), (9, 5), (10, 5)]
        {
            assert_eq!(GoalClass::of(size, goal_blank), GoalClass { size, goal_blank: class });
        }
    }

    #[test]
    fn symmetries_preserve_adjacency() {
        for size in Size::all().filter(|size| size.cells() <= MAX_CELLS) {
            for symmetry in Symmetry::all(size) {
                for (a, b) in (0..size.cells() as Cell).flat_map(|a| (0..size.cells() as Cell).map(move |b| (a, b))) {
                    assert_eq!(size.distance(a, b), symmetry.size().distance(symmetry.cell(a), symmetry.cell(b)));
                }
            }
        }
    }

    #[test]
    fn every_goal_of_every_shape_has_a_class_and_a_symmetry() {
        let classes: Vec<GoalClass> = GoalClass::all().collect();
        for size in Size::all().filter(|size| GoalClass::serves(*size)) {
            for goal_blank in 0..size.cells() as Cell {
                let class = GoalClass::of(size, goal_blank);
                assert!(classes.contains(&class));
                assert!(class.symmetries_from(size, goal_blank).count() >= 1, "{size}, blank in {goal_blank}");
            }
        }
    }
}
