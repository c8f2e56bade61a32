//! The heuristic of chosen patterns.

use super::database::{Entry16, Geometry, PatternTable};
use super::index_16::TileStep16;
use super::tile_patterns::TilePatterns;
use crate::domain::{Board, Cell, Packed, Packed64, Size, Tile};
use crate::search::heuristic::{Heuristic, Part, PartOf};
use crate::search::{Slide, State};

/// The sum of the costs of chosen disjoint patterns (Korf & Felner 2002), and of the Manhattan distances of the tiles
/// in no pattern. Every move moves one tile, so the costs add up.
///
/// The tables know the blank's region, so a move changes the cost of its tile's pattern by exactly 1 (Clausecker &
/// Reinefeld 2019). So the heuristic is consistent, unlike one whose tables ignore the blank.
#[derive(Clone, Debug)]
pub struct DisjointPatterns {
    size: Size,
    goal: Board,
    tables: Vec<PatternTable>,
    /// By label: the index of its pattern, or `NO_PATTERN`.
    pattern_of: [u8; TilePatterns::MAX_CELLS],
}

const NO_PATTERN: u8 = u8::MAX;

/// The costs of a board.
#[derive(Clone, Copy, Debug)]
pub struct DisjointCosts {
    /// By pattern: placement and cost.
    placed: [Entry16; TilePatterns::MAX_PATTERNS],
    /// Sum of the distances of the tiles in no pattern.
    others: u8,
}

/// A table of a pattern, and its entry for a board.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PatternUse {
    /// The tiles, ascending.
    pub tiles: Vec<Tile>,
    /// Number of entries: placements of the tiles and regions of the blank.
    pub entries: u64,
    /// Memory of the table in bytes.
    pub bytes: u64,
    /// The cost of the board in this table, in moves.
    pub cost: u32,
}

impl DisjointPatterns {
    /// Builds the tables for a goal. Returns `None` if `is_stopped` returns true, which is asked after each cost.
    ///
    /// # Panics
    /// If the goal has another size than the patterns.
    pub fn build(patterns: &TilePatterns, goal: &Board, is_stopped: &mut dyn FnMut() -> bool) -> Option<Self> {
        let size = goal.size();
        assert_eq!(size, patterns.size(), "the patterns are for boards of one size");
        let positions = goal.positions();
        let labels = |tiles: Vec<Tile>| {
            let mut labels: Vec<u8> = tiles.into_iter().map(|tile| positions[usize::from(tile)]).collect();
            labels.sort_unstable();
            labels
        };
        let labels: Vec<Vec<u8>> = patterns.patterns().map(labels).collect();
        let mut pattern_of = [NO_PATTERN; TilePatterns::MAX_CELLS];
        for (pattern, labels) in (0..).zip(&labels) {
            labels.iter().for_each(|label| pattern_of[usize::from(*label)] = pattern);
        }
        let geometries = Geometry::of_patterns(size, &labels.iter().collect::<Vec<_>>());
        let mut tables = Vec::with_capacity(labels.len());
        for (labels, geometry) in labels.iter().zip(&geometries) {
            tables.push(PatternTable::build_until(goal.blank(), labels, geometry, is_stopped)?);
        }
        Some(Self { size, goal: *goal, tables, pattern_of })
    }

    /// The tables, and their entries for a board.
    pub fn uses(&self, state: &State<Packed64>) -> Vec<PatternUse> {
        let of_table = |table: &PatternTable| {
            let mut tiles: Vec<Tile> = table.labels().iter().map(|label| self.goal.tile(*label)).collect();
            tiles.sort_unstable();
            let (entries, bytes) = (table.geometry().entries() as u64, table.bytes() as u64);
            PatternUse { tiles, entries, bytes, cost: u32::from(self.entry(table, state).cost) }
        };
        self.tables.iter().map(of_table).collect()
    }

    fn entry(&self, table: &PatternTable, state: &State<Packed64>) -> Entry16 {
        Entry16::from(table.find(|cell| state.tiles.get(cell), state.blank))
    }

    /// The labels of the tiles in no pattern, and their distances.
    fn others(&self, state: &State<Packed64>) -> impl Iterator<Item = (u8, u32)> {
        let tiles = (0..self.size.cells() as Cell).map(move |cell| (state.tiles.get(cell), cell));
        let is_other = move |label: u8| label != self.goal.blank() && self.pattern_of[usize::from(label)] == NO_PATTERN;
        tiles
            .filter(move |(label, _)| is_other(*label))
            .map(move |(label, cell)| (label, self.size.distance(label, cell)))
    }
}

impl Heuristic<Packed64> for DisjointPatterns {
    type Memo = DisjointCosts;

    const ADMISSIBLE: bool = true;

    fn evaluate(&self, state: &State<Packed64>) -> DisjointCosts {
        let mut placed = [Entry16::NONE; TilePatterns::MAX_PATTERNS];
        for (placed, table) in placed.iter_mut().zip(&self.tables) {
            *placed = self.entry(table, state);
        }
        DisjointCosts { placed, others: self.others(state).map(|(_, distance)| distance as u8).sum() }
    }

    #[inline]
    fn after(&self, mut memo: DisjointCosts, slide: &Slide, _: &State<Packed64>) -> DisjointCosts {
        let pattern = usize::from(self.pattern_of[usize::from(slide.label)]);
        match self.tables.get(pattern) {
            Some(table) => {
                let step = TileStep16::new(slide.from, slide.to);
                memo.placed[pattern] = table.lookup_16().follow(memo.placed[pattern], &step);
            }
            None => {
                let distance = |cell| self.size.distance(cell, slide.label) as u8;
                memo.others = memo.others + distance(slide.to) - distance(slide.from);
            }
        }
        memo
    }

    #[inline]
    fn h(&self, memo: DisjointCosts) -> u32 {
        memo.placed.iter().map(|placed| u32::from(placed.cost)).sum::<u32>() + u32::from(memo.others)
    }

    fn parts(&self, state: &State<Packed64>) -> Vec<Part> {
        let of_table = |table: &PatternTable| {
            let cost = u32::from(self.entry(table, state).cost);
            Part { of: PartOf::Pattern, labels: table.labels().to_vec(), cost }
        };
        let others = self.others(state).map(|(label, distance)| Part::tile(label, distance));
        self.tables.iter().map(of_table).chain(others).collect()
    }
}
