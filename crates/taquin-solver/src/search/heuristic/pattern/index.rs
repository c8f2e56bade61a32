//! Index of the table rows by the cells of a pattern's tiles and the blank's region.

use super::cells::{Cells, MAX_CELLS, members};
use super::index_16::{self, Index16};
use super::index_36::Index36;
use crate::domain::{Cell, Move, Size};

/// Numbers every pair of a cell set of a given size and a connected region that it leaves for the blank. The numbers
/// are called slots. They ascend by set, and the slots of one set are consecutive.
///
/// Tiles outside the pattern move at no cost. So the blank moves freely within a region, and leaves it only by moves
/// of the pattern's tiles (Clausecker & Reinefeld 2019, "zero-aware").
#[derive(Clone, Debug)]
pub(crate) struct PatternIndex {
    size: Size,
    tiles: usize,
    neighbors: Neighbors,
    layouts: Layouts,
    /// Number of slots.
    slots: usize,
}

/// Data of each set, in a form that is fast for the board's size.
#[derive(Clone, Debug)]
enum Layouts {
    Cells16(Box<Index16>),
    Cells36(Index36),
}

/// By cell: the adjacent cells.
pub(crate) type Neighbors = [Cells; MAX_CELLS];

impl PatternIndex {
    /// The index of all sets of `tiles` cells.
    pub(crate) fn new(size: Size, tiles: usize) -> Self {
        assert!(size.cells() <= MAX_CELLS, "a board of {size} is too large for patterns");
        let layouts = if size.cells() <= index_16::MAX_CELLS {
            Layouts::Cells16(Box::new(Index16::new(tiles)))
        } else {
            Layouts::Cells36(Index36::new(size, tiles))
        };
        let mut this = Self { size, tiles, neighbors: neighbors(size), layouts, slots: 0 };
        for set in sets(size, tiles) {
            let regions = regions(size, &this.neighbors, set).collect();
            match &mut this.layouts {
                Layouts::Cells16(layouts) => layouts.add(size, set, this.slots, &regions),
                Layouts::Cells36(layouts) => layouts.add(set, this.slots, &regions),
            }
            this.slots += regions.len();
        }
        this
    }

    /// Number of slots of the index for `tiles` tiles, without building it.
    pub(crate) fn slots_of(size: Size, tiles: usize) -> usize {
        let neighbors = neighbors(size);
        sets(size, tiles).map(|set| regions(size, &neighbors, set).count()).sum()
    }

    /// The size of the boards.
    pub(crate) fn size(&self) -> Size {
        self.size
    }

    /// Number of slots.
    pub(crate) fn len(&self) -> usize {
        self.slots
    }

    /// The index of a board of at most sixteen cells.
    ///
    /// # Panics
    /// If the board is larger.
    pub(crate) fn index_16(&self) -> &Index16 {
        match &self.layouts {
            Layouts::Cells16(layouts) => layouts,
            Layouts::Cells36(_) => panic!("a board of {} has more than sixteen cells", self.size),
        }
    }

    /// The index of a board of more than sixteen cells.
    ///
    /// # Panics
    /// If the board is smaller.
    pub(crate) fn index_36(&self) -> &Index36 {
        match &self.layouts {
            Layouts::Cells16(_) => panic!("a board of {} has no more than sixteen cells", self.size),
            Layouts::Cells36(layouts) => layouts,
        }
    }

    /// The slot of a set and a blank cell outside it.
    pub(crate) fn slot(&self, set: Cells, blank: Cell) -> usize {
        match &self.layouts {
            Layouts::Cells16(layouts) => layouts.slot(set, blank),
            Layouts::Cells36(layouts) => layouts.slot(set, blank),
        }
    }

    /// By slot: the set and the region.
    pub(crate) fn sets_and_regions(&self) -> impl Iterator<Item = (Cells, Cells)> {
        sets(self.size, self.tiles)
            .flat_map(|set| regions(self.size, &self.neighbors, set).map(move |region| (set, region)))
    }

    /// The moves of the pattern's tiles that a blank in a region can make, as source and target cell of the tile.
    pub(crate) fn moves(&self, set: Cells, region: Cells) -> impl Iterator<Item = (Cell, Cell)> {
        members(region).flat_map(move |to| members(self.neighbors[usize::from(to)] & set).map(move |from| (from, to)))
    }

    /// The moves of the pattern's tiles that a blank in a cell can make after moving within its region.
    pub(crate) fn moves_from(&self, set: Cells, blank: Cell) -> impl Iterator<Item = (Cell, Cell)> {
        self.moves(set, region(&self.neighbors, set, blank))
    }

    /// Memory of the index in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let layouts = match &self.layouts {
            Layouts::Cells16(layouts) => layouts.bytes(),
            Layouts::Cells36(layouts) => layouts.bytes(),
        };
        size_of::<Self>() + layouts
    }
}

/// All regions that a set leaves for the blank, ordered by their first cells.
fn regions(size: Size, neighbors: &Neighbors, set: Cells) -> impl Iterator<Item = Cells> {
    let mut free = !set & all_cells(size);
    std::iter::from_fn(move || {
        let region = (free != 0).then(|| region(neighbors, set, free.trailing_zeros() as Cell))?;
        free &= !region;
        Some(region)
    })
}

/// The free cells that the blank can reach from one of them.
pub(crate) fn region(neighbors: &Neighbors, set: Cells, from: Cell) -> Cells {
    let (mut region, mut border) = (0, 1 << from);
    while border != 0 {
        region |= border;
        border = members(border).fold(0, |all, cell| all | neighbors[usize::from(cell)]) & !set & !region;
    }
    region
}

pub(crate) fn neighbors(size: Size) -> Neighbors {
    let mut neighbors = [0; MAX_CELLS];
    for cell in 0..size.cells() as Cell {
        let beside = Move::ALL.into_iter().filter_map(|mv| size.neighbor(cell, mv));
        neighbors[usize::from(cell)] = beside.fold(0, |all, neighbor| all | 1 << neighbor);
    }
    neighbors
}

/// All sets of this many cells of a board, ascending.
fn sets(size: Size, tiles: usize) -> impl Iterator<Item = Cells> {
    let all = all_cells(size);
    // The next higher number with the same number of ones (Gosper, HAKMEM item 175, 1972).
    let next = |set: &Cells| {
        let lowest = set & set.wrapping_neg();
        let carried = set + lowest;
        Some(carried | (set ^ carried) >> 2 >> lowest.trailing_zeros())
    };
    std::iter::successors(Some((1 << tiles) - 1), next).take_while(move |set| *set <= all)
}

fn all_cells(size: Size) -> Cells {
    Cells::MAX >> (Cells::BITS as usize - size.cells())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_entries_is_as_published() {
        // Entries of zero-aware tables on 4×4: 11.8, 139.8 and 1,425 million.
        let size = Size::try_from((4, 4)).unwrap();
        for (tiles, orders, millions) in [(6, 720, 11.8), (7, 5_040, 139.8), (8, 40_320, 1_425.0)] {
            let entries = (PatternIndex::new(size, tiles).len() * orders) as f64 / 1e6;
            assert!((entries / millions - 1.0).abs() < 0.005, "{tiles} tiles: {entries}");
        }
    }

    #[test]
    fn a_slot_is_found_from_each_cell_of_its_region() {
        for (rows, cols, tiles) in [(2, 5, 4), (3, 4, 6), (4, 4, 7), (2, 9, 6), (2, 10, 4), (5, 5, 4), (6, 6, 3)] {
            let index = PatternIndex::new(Size::try_from((rows, cols)).unwrap(), tiles);
            assert_eq!(index.sets_and_regions().count(), index.len());
            for (slot, (set, region)) in index.sets_and_regions().enumerate() {
                assert_eq!(set & region, 0);
                assert!(members(region).all(|blank| index.slot(set, blank) == slot));
                let border = members(region)
                    .flat_map(|cell| members(index.neighbors[usize::from(cell)]))
                    .filter(|cell| region & 1 << cell == 0);
                assert!(border.into_iter().all(|cell| set & 1 << cell != 0), "only cells of the set border a region");
            }
        }
    }
}
