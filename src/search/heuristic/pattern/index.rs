//! Where the tiles of a pattern lie, and where the blank can be between them.

use super::cells::{Cells, MAX_CELLS, members};
use super::index_16::{self, Narrow};
use super::index_36::{self, Wide};
use crate::domain::{Cell, Move, Size};

/// Every set of so many cells of a board, and every connected region that it leaves for the blank:
/// numbered as slots, ascending by set, the regions of one set next to each other.
///
/// A tile outside the pattern gives way at no cost, so within a region the blank goes where it
/// likes, and beyond it only by moves of the pattern's tiles (Clausecker & Reinefeld 2019, "zero-aware").
#[derive(Clone, Debug)]
pub(super) struct Placements {
    size: Size,
    tiles: usize,
    beside: Beside,
    layouts: Layouts,
    /// How many there are.
    slots: usize,
}

/// What there is to know of each set, in a form that is fast for the board's size.
#[derive(Clone, Debug)]
enum Layouts {
    Narrow(Box<Narrow>),
    Wide(Wide),
}

/// For each cell those beside it.
type Beside = [Cells; MAX_CELLS];

impl Placements {
    /// All sets of `tiles` cells.
    pub(super) fn new(size: Size, tiles: usize) -> Self {
        assert!(size.cells() <= MAX_CELLS, "a board of {size} is too large for patterns");
        let layouts = if size.cells() <= index_16::MAX_CELLS {
            Layouts::Narrow(Box::new(Narrow::new(tiles)))
        } else {
            Layouts::Wide(Wide::new(size, tiles))
        };
        let mut this = Self { size, tiles, beside: beside(size), layouts, slots: 0 };
        for set in sets(size, tiles) {
            let regions = regions(size, &this.beside, set).collect();
            match &mut this.layouts {
                Layouts::Narrow(layouts) => layouts.add(size, set, this.slots, &regions),
                Layouts::Wide(layouts) => layouts.add(this.slots, &regions),
            }
            this.slots += regions.len();
        }
        this
    }

    /// How many slots there are.
    pub(super) fn len(&self) -> usize {
        self.slots
    }

    /// What is known of boards of at most sixteen cells.
    ///
    /// # Panics
    /// If this is for larger ones.
    pub(super) fn narrow(&self) -> &Narrow {
        match &self.layouts {
            Layouts::Narrow(layouts) => layouts,
            Layouts::Wide(_) => panic!("a board of {} has more than sixteen cells", self.size),
        }
    }

    /// What is known of larger boards.
    ///
    /// # Panics
    /// If this is for smaller ones.
    pub(super) fn wide(&self) -> &Wide {
        match &self.layouts {
            Layouts::Narrow(_) => panic!("a board of {} has no more than sixteen cells", self.size),
            Layouts::Wide(layouts) => layouts,
        }
    }

    /// The slot of a set and a blank outside it.
    pub(super) fn slot(&self, set: Cells, blank: Cell) -> usize {
        match &self.layouts {
            Layouts::Narrow(layouts) => layouts.slot(set, blank),
            Layouts::Wide(layouts) => layouts.slot(set, blank),
        }
    }

    /// By slot: the set and the region.
    pub(super) fn places(&self) -> impl Iterator<Item = (Cells, Cells)> {
        sets(self.size, self.tiles)
            .flat_map(|set| regions(self.size, &self.beside, set).map(move |region| (set, region)))
    }

    /// The moves of tiles that a blank in a region can make: from which cell, and to which.
    pub(super) fn moves(&self, set: Cells, region: Cells) -> impl Iterator<Item = (Cell, Cell)> {
        members(region).flat_map(move |to| members(self.beside[usize::from(to)] & set).map(move |from| (from, to)))
    }

    /// The same for the region that a blank is in.
    pub(super) fn moves_from(&self, set: Cells, blank: Cell) -> impl Iterator<Item = (Cell, Cell)> {
        self.moves(set, region(&self.beside, set, blank))
    }

    /// Memory it takes.
    pub(super) fn bytes(&self) -> usize {
        let layouts = match &self.layouts {
            Layouts::Narrow(layouts) => layouts.bytes(),
            Layouts::Wide(layouts) => layouts.bytes(),
        };
        size_of::<Self>() + layouts
    }
}

/// All regions that a set leaves, ascending by their first cells.
fn regions(size: Size, beside: &Beside, set: Cells) -> impl Iterator<Item = Cells> {
    let mut free = !set & all_cells(size);
    std::iter::from_fn(move || {
        let region = (free != 0).then(|| region(beside, set, free.trailing_zeros() as Cell))?;
        free &= !region;
        Some(region)
    })
}

/// The free cells that the blank can reach from one of them.
fn region(beside: &Beside, set: Cells, from: Cell) -> Cells {
    let (mut region, mut border) = (0, 1 << from);
    while border != 0 {
        region |= border;
        border = members(border).fold(0, |all, cell| all | beside[usize::from(cell)]) & !set & !region;
    }
    region
}

fn beside(size: Size) -> Beside {
    let mut beside = [0; MAX_CELLS];
    for cell in 0..size.cells() as Cell {
        let neighbours = Move::ALL.into_iter().filter_map(|mv| size.neighbour(cell, mv));
        beside[usize::from(cell)] = neighbours.fold(0, |all, neighbour| all | 1 << neighbour);
    }
    beside
}

/// The sets of so many of a board's cells, ascending.
fn sets(size: Size, tiles: usize) -> impl Iterator<Item = Cells> {
    let all = all_cells(size);
    // The next higher number with as many ones, of Gosper's (HAKMEM, 1972, item 175).
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
    fn there_are_as_many_places_as_published() {
        // Entries of zero-aware tables on 4×4: 11.8, 139.8 and 1,425 million.
        let size = Size::try_from((4, 4)).unwrap();
        for (tiles, orders, millions) in [(6, 720, 11.8), (7, 5_040, 139.8), (8, 40_320, 1_425.0)] {
            let entries = (Placements::new(size, tiles).len() * orders) as f64 / 1e6;
            assert!((entries / millions - 1.0).abs() < 0.005, "{tiles} tiles: {entries}");
        }
    }

    #[test]
    fn a_slot_is_found_from_each_cell_of_its_region() {
        for (rows, cols, tiles) in [(2, 5, 4), (3, 4, 6), (4, 4, 7)] {
            let placements = Placements::new(Size::try_from((rows, cols)).unwrap(), tiles);
            assert_eq!(placements.places().count(), placements.len());
            for (slot, (set, region)) in placements.places().enumerate() {
                assert_eq!(set & region, 0);
                assert!(members(region).all(|blank| placements.slot(set, blank) == slot));
                let border = members(region)
                    .flat_map(|cell| members(placements.beside[usize::from(cell)]))
                    .filter(|cell| region & 1 << cell == 0);
                assert!(border.into_iter().all(|cell| set & 1 << cell != 0), "a region goes up to tiles");
            }
        }
    }
}
