//! Exact distances of all boards of at most nine cells.

use std::iter::successors;

use super::{Heuristic, Part, PartOf};
use crate::domain::{Board, Cell, Metric, Move, Packed, Packed64, Puzzle, Size};
use crate::search::{Slide, State};

/// Distance to a goal of every board from which it can be reached, in one metric.
///
/// A pattern database whose pattern is the whole board (after Culberson & Schaeffer 1998), so the heuristic is perfect:
/// A\* expands exactly the nodes of one optimal path. An entry takes one byte, which also holds a move. 3×3 has 181,440
/// entries.
#[derive(Clone, Debug)]
pub struct DistanceTable {
    size: Size,
    goal_blank: Cell,
    ranking: Ranking,
    /// By rank.
    entries: Vec<DistanceEntry>,
    /// Number of boards at each distance.
    histogram: Vec<u64>,
}

/// Entry of a table. The lower six bits are the distance, at most 36 (2×4). The upper two are the move that leads
/// nearer, the last in successor order if there are several.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct DistanceEntry(u8);

impl DistanceEntry {
    const UNSEEN: Self = Self(u8::MAX);
    const DISTANCE_BITS: u32 = 6;

    fn new(distance: u8, nearer: Move) -> Self {
        debug_assert!(distance < Self::UNSEEN.distance(), "distances are less than the distance of the marker");
        Self(distance | (nearer as u8) << Self::DISTANCE_BITS)
    }

    #[inline]
    fn distance(self) -> u8 {
        self.0 & ((1 << Self::DISTANCE_BITS) - 1)
    }

    /// A move nearer to the goal; any move at the goal itself.
    #[inline]
    fn nearer(self) -> Move {
        Move::ALL[usize::from(self.0 >> Self::DISTANCE_BITS)]
    }
}

/// Number of ones in each 9-bit mask.
const BITS: [u8; 512] = {
    let mut bits = [0; 512];
    let mut mask = 1;
    while mask < 512 {
        bits[mask] = bits[mask / 2] + (mask % 2) as u8;
        mask += 1;
    }
    bits
};

/// Ranks boards: the blank's cell, then the Lehmer digits of the tiles in row order, except the last two, whose order
/// follows from parity. So there are n · (n − 1)!/2 ranks, without gaps.
///
/// A digit is a label minus the number of smaller labels before it. The digits of the first three tiles come from one
/// table. The digits of up to three more come from another, as if no tile preceded them; a correction accounts for the
/// first three.
#[derive(Clone, Debug)]
struct Ranking {
    /// Number of ranks per blank cell.
    stride: usize,
    first_labels: usize,
    /// By the first labels: their part of the rank, and in the upper 16 bits the set of them and the blank.
    first: Vec<u32>,
    /// By the labels that follow: their part of the rank if none preceded them.
    second: Vec<u16>,
    /// Weight of each digit of the second group.
    second_weights: [u32; GROUP],
}

/// Labels in a group: twelve bits index a table that fits the first-level cache.
const GROUP: usize = 3;

impl Ranking {
    fn new(size: Size, goal_blank: Cell) -> Self {
        let tiles = size.cells() - 1;
        let weights: Vec<u32> = (0..tiles - 2).map(|at| (3..tiles - at).product::<usize>() as u32).collect();
        let (first_weights, rest) = weights.split_at(weights.len().min(GROUP));
        let mut second_weights = [0; GROUP];
        second_weights[..rest.len()].copy_from_slice(rest);
        let first = (0..1 << (4 * first_weights.len())).map(|labels| {
            let (part, seen) = digits(labels, first_weights, 1 << goal_blank);
            part | seen << 16
        });
        let second = (0..1 << (4 * rest.len())).map(|labels| digits(labels, rest, 0).0 as u16);
        Self {
            stride: (3..=tiles).product(),
            first_labels: first_weights.len(),
            first: first.collect(),
            second: second.collect(),
            second_weights,
        }
    }

    #[inline]
    fn rank(&self, state: &State<Packed64>) -> usize {
        let at_blank = 4 * u32::from(state.blank);
        let before_blank = (1 << at_blank) - 1;
        let labels = (state.tiles.0 & before_blank | state.tiles.0 >> 4 & !before_blank) as usize;
        let first = self.first[labels & (self.first.len() - 1)];
        let mut second_labels = labels >> (4 * self.first_labels) & (self.second.len() - 1);
        let mut part = (first & 0xffff) + u32::from(self.second[second_labels]);
        let seen = first >> 16;
        for weight in self.second_weights {
            let below = (1 << (second_labels & 0xf)) - 1;
            part -= weight * u32::from(BITS[(seen & below & 0x1ff) as usize]);
            second_labels >>= 4;
        }
        usize::from(state.blank) * self.stride + part as usize
    }

    fn bytes(&self) -> usize {
        size_of_val(self.first.as_slice()) + size_of_val(self.second.as_slice())
    }
}

/// The weighted sum of the digits of labels, four bits each, and the set of them and `seen`.
fn digits(mut labels: u32, weights: &[u32], mut seen: u32) -> (u32, u32) {
    let mut part = 0;
    for weight in weights {
        let label = labels & 0xf;
        labels >>= 4;
        // The result is unused for labels that no board has.
        part += weight * label.saturating_sub((seen & ((1 << label) - 1)).count_ones());
        seen |= 1 << label;
    }
    (part, seen & 0x1ff)
}

impl DistanceTable {
    /// Cells of the largest supported boards.
    pub const MAX_CELLS: usize = 9;

    /// True if a table can be built for boards of this shape.
    pub fn serves(size: Size) -> bool {
        size.cells() <= Self::MAX_CELLS
    }

    /// Every supported shape.
    pub fn sizes() -> impl Iterator<Item = Size> {
        Size::all().filter(|size| Self::serves(*size))
    }

    /// Builds the table in the single-tile metric by breadth-first search from the goal.
    ///
    /// # Panics
    /// If the shape is not [supported](Self::serves).
    pub fn build(size: Size, goal_blank: Cell) -> Self {
        Self::build_in(Metric::SingleTile, size, goal_blank)
    }

    /// Builds the table in a metric, as [`build`](Self::build) does.
    ///
    /// # Panics
    /// As [`build`](Self::build).
    pub fn build_in(metric: Metric, size: Size, goal_blank: Cell) -> Self {
        assert!(Self::serves(size), "a board of {size} is too large for a full table");
        let cells = size.cells();
        let entries = (3..=cells).product();
        let mut table = Self {
            size,
            goal_blank,
            ranking: Ranking::new(size, goal_blank),
            entries: vec![DistanceEntry::UNSEEN; entries],
            histogram: Vec::new(),
        };
        let goal: Vec<u8> = (0..cells as u8).collect();
        let mut layer = vec![State { tiles: Packed64::pack(&goal), blank: goal_blank }];
        let goal = table.ranking.rank(&layer[0]);
        table.entries[goal] = DistanceEntry::new(0, Move::Up);
        let blank_moves = blank_moves(size, metric);
        while !layer.is_empty() {
            table.histogram.push(layer.len() as u64);
            let distance = table.histogram.len() as u8;
            let mut next = Vec::with_capacity(2 * layer.len());
            for state in layer {
                let mut successor = state;
                for BlankMove { to, back, extends } in &blank_moves[usize::from(state.blank)] {
                    if !extends {
                        successor = state;
                    }
                    successor.slide(*to);
                    let entry = &mut table.entries[table.ranking.rank(&successor)];
                    let found = DistanceEntry::new(distance, *back);
                    if *entry == DistanceEntry::UNSEEN {
                        next.push(successor);
                        *entry = found;
                    } else if entry.distance() == distance {
                        // Moves are numbered in successor order.
                        entry.0 = entry.0.max(found.0);
                    }
                }
            }
            layer = next;
        }
        table
    }

    /// The board of a rank, with tiles numbered as in `goal`.
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

    /// Distance from a board to the goal, in moves.
    #[inline]
    pub fn distance(&self, state: &State<Packed64>) -> u8 {
        self.entries[self.ranking.rank(state)].distance()
    }

    /// Number of boards at each distance, from 0 to the greatest.
    pub fn histogram(&self) -> &[u64] {
        &self.histogram
    }

    /// The board with index `nth`, from 0, among all boards with a distance in `lengths`; `None` if there are fewer.
    /// The order of the boards is fixed. Tiles are numbered as in `goal`.
    pub fn board_at(&self, lengths: std::ops::RangeInclusive<u32>, nth: u64, goal: &Board) -> Option<Board> {
        let is_wanted = |rank: &usize| lengths.contains(&u32::from(self.entries[*rank].distance()));
        let mut ranks = (0..self.entries.len()).filter(is_wanted);
        ranks.nth(usize::try_from(nth).ok()?).map(|rank| self.unrank(rank, goal))
    }

    /// All boards of the table with their distances, in a fixed order. Tiles are numbered as in `goal`.
    pub fn boards(&self, goal: &Board) -> impl Iterator<Item = (Board, u32)> {
        self.entries.iter().enumerate().map(|(rank, entry)| (self.unrank(rank, goal), entry.distance().into()))
    }

    /// The shape.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The blank's goal cell.
    pub fn goal_blank(&self) -> Cell {
        self.goal_blank
    }

    /// Memory of the table in bytes.
    pub fn bytes(&self) -> usize {
        self.entries.len() + size_of_val(self.histogram.as_slice()) + self.ranking.bytes()
    }
}

/// A move of the blank to another cell.
struct BlankMove {
    to: Cell,
    /// Direction of the move back.
    back: Move,
    /// True if the move continues from the cell of the previous move in its list; otherwise from the blank's cell.
    extends: bool,
}

/// The moves of a metric, by the blank's cell.
fn blank_moves(size: Size, metric: Metric) -> Vec<Vec<BlankMove>> {
    let reach = match metric {
        Metric::SingleTile => 1,
        Metric::MultiTile => Size::MAX_SIDE,
    };
    let along = |blank: Cell, mv: Move| {
        let cells = successors(size.neighbor(blank, mv), move |cell| size.neighbor(*cell, mv)).take(reach);
        cells.enumerate().map(move |(nth, to)| BlankMove { to, back: mv.inverse(), extends: nth > 0 })
    };
    let moves = |blank| Move::ALL.into_iter().flat_map(|mv| along(blank, mv)).collect();
    (0..size.cells() as Cell).map(moves).collect()
}

/// The heuristic that reads exact distances from a table. It is perfect, and therefore consistent.
#[derive(Clone, Copy, Debug)]
pub struct ExactDistance<'t> {
    table: &'t DistanceTable,
}

impl<'t> ExactDistance<'t> {
    /// Reads h from a table, which must be for the space's shape and goal.
    pub fn new(table: &'t DistanceTable) -> Self {
        Self { table }
    }
}

/// Rank of a board, and its table entry.
#[derive(Clone, Copy, Debug)]
pub struct DistanceMemo {
    rank: u32,
    entry: DistanceEntry,
}

impl ExactDistance<'_> {
    #[inline]
    fn entry_at(&self, rank: usize) -> DistanceMemo {
        DistanceMemo { rank: rank as u32, entry: self.table.entries[rank] }
    }
}

impl Heuristic<Packed64> for ExactDistance<'_> {
    type Memo = DistanceMemo;

    const ADMISSIBLE: bool = true;

    const PERFECT: bool = true;

    fn evaluate(&self, state: &State<Packed64>) -> DistanceMemo {
        self.entry_at(self.table.ranking.rank(state))
    }

    #[inline]
    fn after(&self, memo: DistanceMemo, slide: &Slide, state: &State<Packed64>) -> DistanceMemo {
        let (rank, stride) = (memo.rank as usize, self.table.ranking.stride);
        match slide.mv {
            // A horizontal slide passes no other tile, so only the blank's cell changes.
            Move::Left => self.entry_at(rank - stride),
            Move::Right => self.entry_at(rank + stride),
            Move::Up | Move::Down => self.entry_at(self.table.ranking.rank(state)),
        }
    }

    #[inline]
    fn h(&self, memo: DistanceMemo) -> u32 {
        u32::from(memo.entry.distance())
    }

    fn parts(&self, state: &State<Packed64>) -> Vec<Part> {
        let labels = (0..self.table.size.cells() as u8).filter(|label| *label != self.table.goal_blank).collect();
        vec![Part { of: PartOf::Pattern, labels, cost: u32::from(self.table.distance(state)) }]
    }

    #[inline]
    fn nearer(&self, memo: DistanceMemo) -> Option<Move> {
        Some(memo.entry.nearer())
    }
}
