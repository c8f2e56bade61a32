//! Exact distances of every board of at most nine cells.

use super::super::{Slide, State};
use super::Heuristic;
use crate::domain::{Board, Cell, Move, Packed, Puzzle, Size, Word};

/// The distance of every reachable board of one shape to a goal with the blank in one cell.
///
/// The pattern is the whole board, so the heuristic is perfect: A* expands exactly the nodes of
/// one optimal path. One byte an entry; 3×3 has 181,440 entries.
#[derive(Clone, Debug)]
pub struct DistanceTable {
    size: Size,
    goal_blank: Cell,
    /// By rank.
    distances: Vec<u8>,
    /// How many boards there are at each distance.
    histogram: Vec<u32>,
}

const UNSEEN: u8 = u8::MAX;

/// Bits of each 9-bit mask.
const BITS: [u8; 512] = {
    let mut bits = [0; 512];
    let mut mask = 1;
    while mask < 512 {
        bits[mask] = bits[mask / 2] + (mask % 2) as u8;
        mask += 1;
    }
    bits
};

impl DistanceTable {
    /// The largest boards it is made for.
    pub const MAX_CELLS: usize = 9;

    /// Whether boards of this shape are small enough.
    pub fn serves(size: Size) -> bool {
        size.cells() <= Self::MAX_CELLS
    }

    /// Every shape it is made for.
    pub fn sizes() -> impl Iterator<Item = Size> {
        Size::all().filter(|size| Self::serves(*size))
    }

    /// Measures all boards by breadth-first search from the goal.
    ///
    /// # Panics
    /// If the shape is not one it [serves](Self::serves).
    pub fn build(size: Size, goal_blank: Cell) -> Self {
        assert!(Self::serves(size), "a board of {size} is too large for a full table");
        let cells = size.cells();
        let entries = (3..=cells).product();
        let mut table = Self { size, goal_blank, distances: vec![UNSEEN; entries], histogram: vec![1] };
        let goal: Vec<u8> = (0..cells as u8).collect();
        let mut layer = vec![State { tiles: Word::pack(&goal), blank: goal_blank }];
        let goal = table.rank(&layer[0]);
        table.distances[goal] = 0;
        let moves: Vec<Vec<Cell>> = (0..cells as Cell)
            .map(|blank| Move::ALL.into_iter().filter_map(|mv| size.neighbour(blank, mv)).collect())
            .collect();
        for distance in 1.. {
            let mut next = Vec::with_capacity(2 * layer.len());
            for state in layer {
                for from in &moves[usize::from(state.blank)] {
                    let mut successor = state;
                    successor.slide(*from);
                    let rank = table.rank(&successor);
                    if table.distances[rank] == UNSEEN {
                        table.distances[rank] = distance;
                        next.push(successor);
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            table.histogram.push(next.len() as u32);
            layer = next;
        }
        table
    }

    /// Boards as integers: the blank's cell, then the Lehmer digits of the tiles in row order, without
    /// the last two, whose order parity decides. So n · (n − 1)!/2 ranks, without gaps.
    #[inline]
    fn rank(&self, state: &State<Word>) -> usize {
        let tiles = self.size.cells() - 1;
        let at_blank = 4 * u32::from(state.blank);
        let before_blank = (1 << at_blank) - 1;
        let mut labels = state.tiles.0 & before_blank | state.tiles.0 >> 4 & !before_blank;
        let mut seen = 1_usize << self.goal_blank;
        let mut rank = usize::from(state.blank);
        for left in (3..=tiles).rev() {
            let label = (labels & 0xf) as usize;
            labels >>= 4;
            let digit = label - usize::from(BITS[seen & ((1 << label) - 1) & 0x1ff]);
            seen |= 1 << label;
            rank = rank * left + digit;
        }
        rank
    }

    /// The board of a rank, its tiles named as `goal` names them.
    fn unrank(&self, mut rank: usize, goal: &Board) -> Board {
        let tiles = self.size.cells() - 1;
        let mut digits = [0; Self::MAX_CELLS];
        for left in 3..=tiles {
            digits[tiles - left] = rank % left;
            rank /= left;
        }
        let mut left: Vec<u8> = (0..self.size.cells() as u8).filter(|label| *label != self.goal_blank).collect();
        let mut labels: Vec<u8> = digits[..tiles].iter().map(|digit| left.remove(*digit)).collect();
        labels.insert(rank, self.goal_blank);
        let mut board = Board::from_fn(self.size, |cell| goal.tile(labels[usize::from(cell)]));
        if Puzzle::try_new(board, *goal).is_err() {
            let mut last = (0..self.size.cells() as Cell).rev().filter(|cell| *cell != board.blank());
            if let (Some(a), Some(b)) = (last.next(), last.next()) {
                board.swap(a, b);
            }
        }
        board
    }

    /// The optimal length from a board to the goal.
    #[inline]
    pub fn distance(&self, state: &State<Word>) -> u8 {
        self.distances[self.rank(state)]
    }

    /// How many boards there are at each optimal length, from 0 to the greatest.
    pub fn histogram(&self) -> &[u32] {
        &self.histogram
    }

    /// Board number `nth`, counted from 0, of those whose optimal length lies in `lengths`; the
    /// order is fixed.
    pub fn board_at(&self, lengths: std::ops::RangeInclusive<u32>, nth: u64, goal: &Board) -> Option<Board> {
        let mut ranks = (0..self.distances.len()).filter(|rank| lengths.contains(&u32::from(self.distances[*rank])));
        ranks.nth(usize::try_from(nth).ok()?).map(|rank| self.unrank(rank, goal))
    }

    /// The shape.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The blank's goal cell.
    pub fn goal_blank(&self) -> Cell {
        self.goal_blank
    }

    /// Memory it takes.
    pub fn bytes(&self) -> usize {
        self.distances.len() + size_of_val(self.histogram.as_slice())
    }
}

/// A table of exact distances as a heuristic: perfect, so consistent.
#[derive(Clone, Copy, Debug)]
pub struct PatternDatabase<'t> {
    table: &'t DistanceTable,
}

impl<'t> PatternDatabase<'t> {
    /// Looks h up in a table, which must be that of the space's shape and goal.
    pub fn new(table: &'t DistanceTable) -> Self {
        Self { table }
    }
}

impl Heuristic<Word> for PatternDatabase<'_> {
    type Memo = u8;

    const ADMISSIBLE: bool = true;

    fn evaluate(&self, state: &State<Word>) -> u8 {
        self.table.distance(state)
    }

    #[inline]
    fn after(&self, _: u8, _: &Slide, state: &State<Word>) -> u8 {
        self.table.distance(state)
    }

    #[inline]
    fn h(&self, memo: u8) -> u32 {
        u32::from(memo)
    }
}
