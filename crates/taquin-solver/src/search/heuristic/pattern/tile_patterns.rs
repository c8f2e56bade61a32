//! Patterns that a request chooses: disjoint sets of tiles.

use std::fmt;

use super::generate::bytes_to_generate;
use super::index::PatternIndex;
use super::index_16::Layout16;
use super::permutation::Permutations;
use crate::domain::{Size, Tile};

/// Disjoint sets of tiles of boards of one size. Some tiles may be in no set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TilePatterns {
    size: Size,
    /// By pattern: its tiles, one bit each; 0 after the last pattern.
    sets: [u16; Self::MAX_PATTERNS],
    /// Upper bound on the memory of the tables and of their construction, in bytes.
    bytes: u64,
}

/// An error in a list of patterns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PatternFault {
    /// Index of the pattern; `None` for an error of the whole list.
    pub pattern: Option<usize>,
    /// Index of the tile in its pattern; `None` for an error of the whole pattern.
    pub at: Option<usize>,
    /// The reason.
    pub reason: PatternReason,
}

/// The reason why patterns are rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PatternReason {
    /// The board has too many cells.
    LargeBoard(Size),
    /// There are no patterns, or too many.
    Count(usize),
    /// A pattern has no tiles.
    Empty,
    /// A pattern has the blank.
    Blank,
    /// The board has no tile of this number.
    NotOnBoard(i64, Size),
    /// A tile is in a pattern twice, or in two patterns.
    Twice(Tile),
    /// A pattern has more tiles than this maximum.
    TooManyTiles(usize, usize),
    /// The tables would have this number of placements.
    TooLarge(u64),
}

impl TilePatterns {
    /// Maximum number of patterns.
    pub const MAX_PATTERNS: usize = 6;

    /// Cells of the largest boards.
    pub const MAX_CELLS: usize = 16;

    /// Maximum number of placements of the tiles in all tables. One pattern of seven tiles and one of six fit on 4×4.
    pub const MAX_PLACEMENTS: u64 = 64_000_000;

    /// Checks patterns, which are lists of tile numbers.
    ///
    /// # Errors
    /// All errors at once.
    pub fn try_new(size: Size, patterns: &[Vec<i64>]) -> Result<Self, Vec<PatternFault>> {
        let mut faults = Vec::new();
        let mut whole = |reason| faults.push(PatternFault { pattern: None, at: None, reason });
        if size.cells() > Self::MAX_CELLS {
            whole(PatternReason::LargeBoard(size));
            return Err(faults);
        }
        if !(1..=Self::MAX_PATTERNS).contains(&patterns.len()) {
            whole(PatternReason::Count(patterns.len()));
        }
        let (mut sets, mut known) = (Vec::new(), 0);
        for (pattern, tiles) in patterns.iter().enumerate() {
            sets.push(set_of(size, pattern, tiles, &mut known, &mut faults));
        }
        let placements: u64 = sets.iter().map(|set| placements(size, set.count_ones())).sum();
        if faults.is_empty() && placements > Self::MAX_PLACEMENTS {
            faults.push(PatternFault { pattern: None, at: None, reason: PatternReason::TooLarge(placements) });
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        sets.resize(Self::MAX_PATTERNS, 0);
        let sets = sets.try_into().expect("there are at most so many patterns");
        Ok(Self { size, sets, bytes: bytes_of(size, &sets) })
    }

    /// Maximum number of tiles of a pattern on boards of a size.
    pub fn max_tiles(size: Size) -> usize {
        if size.cols() > 5 { Permutations::MAX_ITEMS - 1 } else { Permutations::MAX_ITEMS }
    }

    /// The size of the boards.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The tiles of each pattern, ascending.
    pub fn patterns(&self) -> impl Iterator<Item = Vec<Tile>> {
        let sets = self.sets.into_iter().take_while(|set| *set != 0);
        sets.map(|set| (0..u16::BITS as Tile).filter(|tile| set >> tile & 1 != 0).collect())
    }

    /// Upper bound on the memory of the tables and of their construction, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// The tiles of a pattern as a set. `known` has the tiles of all patterns so far.
fn set_of(size: Size, pattern: usize, tiles: &[i64], known: &mut u16, faults: &mut Vec<PatternFault>) -> u16 {
    let mut report = |at, reason| faults.push(PatternFault { pattern: Some(pattern), at, reason });
    let mut set = 0;
    for (at, tile) in tiles.iter().enumerate() {
        match Tile::try_from(*tile).ok().filter(|tile| usize::from(*tile) < size.cells()) {
            None => report(Some(at), PatternReason::NotOnBoard(*tile, size)),
            Some(0) => report(Some(at), PatternReason::Blank),
            Some(tile) if *known >> tile & 1 != 0 => report(Some(at), PatternReason::Twice(tile)),
            Some(tile) => {
                *known |= 1u16 << tile;
                set |= 1u16 << tile;
            }
        }
    }
    let most = TilePatterns::max_tiles(size);
    if tiles.is_empty() {
        report(None, PatternReason::Empty);
    } else if tiles.len() > most {
        report(None, PatternReason::TooManyTiles(tiles.len(), most));
    }
    set
}

/// Number of placements of so many tiles on a board.
fn placements(size: Size, tiles: u32) -> u64 {
    (0..u64::from(tiles)).map(|placed| size.cells() as u64 - placed).product()
}

/// Upper bound on the memory of the tables and of their construction, in bytes.
fn bytes_of(size: Size, sets: &[u16]) -> u64 {
    /// Rank shifts and other data of a table.
    const BESIDE: usize = 64 << 10;
    let tiles = sets.iter().map(|set| set.count_ones() as usize).filter(|tiles| *tiles > 0);
    let of_pattern = |tiles: usize| {
        let (permutations, slots) = (Permutations::new(tiles), PatternIndex::slots_of(size, tiles));
        let words = slots * permutations.count().div_ceil(u64::BITS as usize);
        // There are at most as many sets of cells as slots.
        let table = size_of::<u64>() * words + size_of::<Layout16>() * slots + BESIDE;
        (table, bytes_to_generate(slots, &permutations))
    };
    let (tables, to_build): (Vec<usize>, Vec<usize>) = tiles.map(of_pattern).unzip();
    (tables.into_iter().sum::<usize>() + to_build.into_iter().max().unwrap_or(0)) as u64
}

impl fmt::Display for PatternReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LargeBoard(size) => {
                let most = TilePatterns::MAX_CELLS;
                write!(f, "patterns are for boards of up to {most} cells, and the board is {size}")
            }
            Self::Count(count) => write!(f, "there are {count} patterns; give 1 to {}", TilePatterns::MAX_PATTERNS),
            Self::Empty => write!(f, "the pattern has no tiles"),
            Self::Blank => write!(f, "0 is the blank; a pattern has only tiles"),
            Self::NotOnBoard(tile, size) => {
                write!(f, "there is no tile {tile} on {size}; the tiles are 1 to {}", size.cells() - 1)
            }
            Self::Twice(tile) => write!(f, "tile {tile} is in the patterns twice; they must be disjoint"),
            Self::TooManyTiles(tiles, most) => write!(f, "the pattern has {tiles} tiles; the maximum is {most}"),
            Self::TooLarge(placements) => {
                let most = TilePatterns::MAX_PLACEMENTS;
                write!(
                    f,
                    "the tables have {placements} placements of tiles; the maximum is {most}: use smaller patterns"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(rows: usize, cols: usize) -> Size {
        Size::try_from((rows, cols)).unwrap()
    }

    #[test]
    fn all_errors_are_reported_at_once() {
        let patterns = [vec![1, 2, 0], vec![], vec![2, 9, -1, 3, 3]];
        let faults = TilePatterns::try_new(size(3, 3), &patterns).unwrap_err();
        let found: Vec<_> = faults.iter().map(|fault| (fault.pattern, fault.at, fault.reason)).collect();
        assert_eq!(
            found,
            [
                (Some(0), Some(2), PatternReason::Blank),
                (Some(1), None, PatternReason::Empty),
                (Some(2), Some(0), PatternReason::Twice(2)),
                (Some(2), Some(1), PatternReason::NotOnBoard(9, size(3, 3))),
                (Some(2), Some(2), PatternReason::NotOnBoard(-1, size(3, 3))),
                (Some(2), Some(4), PatternReason::Twice(3)),
            ]
        );
        let reason = |size, patterns: &[Vec<i64>]| TilePatterns::try_new(size, patterns).unwrap_err()[0].reason;
        assert_eq!(reason(size(4, 5), &[vec![1]]), PatternReason::LargeBoard(size(4, 5)));
        assert_eq!(reason(size(4, 4), &[]), PatternReason::Count(0));
        assert_eq!(reason(size(4, 4), &vec![vec![1]; 7]), PatternReason::Count(7));
        assert_eq!(reason(size(2, 8), &[(1..9).collect()]), PatternReason::TooManyTiles(8, 7));
        assert_eq!(reason(size(4, 4), &[(1..9).collect()]), PatternReason::TooLarge(518_918_400));
        assert_eq!(reason(size(4, 4), &[(1..8).collect(), (8..15).collect()]), PatternReason::TooLarge(115_315_200));
    }

    #[test]
    fn patterns_are_kept_in_order() {
        let patterns = TilePatterns::try_new(size(4, 4), &[vec![9, 8, 15], vec![1]]).unwrap();
        assert_eq!(patterns.patterns().collect::<Vec<_>>(), [vec![8, 9, 15], vec![1]]);
        assert!(TilePatterns::try_new(size(4, 4), &[(1..8).collect(), (8..14).collect()]).is_ok());
        assert!(TilePatterns::try_new(size(3, 3), &[(1..9).collect()]).is_ok());
    }
}
