//! Walking distance.

use std::collections::HashMap;

use super::{Heuristic, Part, PartOf};
use crate::domain::{Cell, Move, Packed, Packed64, Size};
use crate::search::{Slide, State};

/// Exact distances in a relaxed puzzle in which tiles of one goal line are identical, and the order within a line does
/// not matter.
///
/// A state consists of the number of tiles of each goal line in each line, and of the blank's line. A move exchanges
/// the blank with any tile of an adjacent line. 4×4 has 24,964 states (Takahashi 2002). One table serves rows or
/// columns of every board with the same number and length of lines.
#[derive(Clone, Debug)]
pub struct WalkingTable {
    shape: WalkingShape,
    distances: Vec<u8>,
    /// The state after the blank moves back or forth by a line, and exchanges with a tile of a goal line, at `(state ×
    /// 2 + forth) × lines + goal line`.
    transitions: Vec<u32>,
    /// States by key, sorted.
    keys: Vec<(u64, u32)>,
    coding: Coding,
}

/// Parameters of a table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WalkingShape {
    /// Number of lines.
    pub lines: usize,
    /// Cells per line.
    pub width: usize,
    /// The blank's goal line.
    pub blank_line: usize,
}

/// Layout of a key: some bits per pair of line and goal line, the blank's line above them.
#[derive(Clone, Copy, Debug)]
struct Coding {
    lines: usize,
    bits: u32,
}

impl Coding {
    fn new(shape: WalkingShape) -> Self {
        Self { lines: shape.lines, bits: usize::BITS - shape.width.leading_zeros() }
    }

    fn one(self, line: usize, goal_line: usize) -> u64 {
        1 << (self.bits * (line * self.lines + goal_line) as u32)
    }

    fn count(self, key: u64, line: usize, goal_line: usize) -> u64 {
        key >> (self.bits * (line * self.lines + goal_line) as u32) & ((1 << self.bits) - 1)
    }

    fn blank(self, line: usize) -> u64 {
        (line as u64) << (self.bits * (self.lines * self.lines) as u32)
    }
}

const NONE: u32 = u32::MAX;

impl WalkingTable {
    /// The longest supported side.
    pub const MAX_LINES: usize = 5;

    /// True if tables for boards of this shape are built within about ten milliseconds: sides of at most 4, and 2×5.
    /// (Five lines of three have 352,560 states, six lines have millions.)
    pub fn serves(size: Size) -> bool {
        let (short, long) = (size.rows().min(size.cols()), size.rows().max(size.cols()));
        long <= 4 || (long == Self::MAX_LINES && short == 2)
    }

    /// Builds the table by breadth-first search from the goal.
    pub fn build(shape: WalkingShape) -> Self {
        let WalkingShape { lines, width, blank_line } = shape;
        let coding = Coding::new(shape);
        let tiles = |line| (width - usize::from(line == blank_line)) as u64;
        let goal = coding.blank(blank_line) + (0..lines).map(|line| tiles(line) * coding.one(line, line)).sum::<u64>();
        let mut numbers = HashMap::from([(goal, 0_u32)]);
        let mut states = vec![(goal, blank_line)];
        let mut distances = vec![0_u8];
        let mut transitions = Vec::new();
        let mut at = 0;
        while let Some((key, blank)) = states.get(at).copied() {
            for neighbor in [blank.checked_sub(1), Some(blank + 1).filter(|line| *line < lines)] {
                for goal_line in 0..lines {
                    let Some(line) = neighbor.filter(|line| coding.count(key, *line, goal_line) > 0) else {
                        transitions.push(NONE);
                        continue;
                    };
                    let tile_moved = key - coding.one(line, goal_line) + coding.one(blank, goal_line);
                    let successor = tile_moved - coding.blank(blank) + coding.blank(line);
                    let number = *numbers.entry(successor).or_insert_with(|| {
                        states.push((successor, line));
                        distances.push(distances[at] + 1);
                        states.len() as u32 - 1
                    });
                    transitions.push(number);
                }
            }
            at += 1;
        }
        let mut keys: Vec<(u64, u32)> = numbers.into_iter().collect();
        keys.sort_unstable();
        Self { shape, distances, transitions, keys, coding }
    }

    /// The state of a board, given the line of each cell.
    fn state_of(
        &self,
        board: &State<Packed64>,
        lines: &[u8; Packed64::MAX_CELLS],
        cells: usize,
        goal_blank: Cell,
    ) -> u32 {
        let line_of = |cell: u8| usize::from(lines[usize::from(cell)]);
        let key = (0..cells as Cell).fold(self.coding.blank(line_of(board.blank)), |key, cell| {
            let label = board.tiles.get(cell);
            if label == goal_blank { key } else { key + self.coding.one(line_of(cell), line_of(label)) }
        });
        match self.keys.binary_search_by_key(&key, |(key, _)| *key) {
            Ok(at) => self.keys[at].1,
            Err(_) => unreachable!("the table has the states of all boards"),
        }
    }

    #[inline]
    fn after(&self, state: u32, forth: bool, goal_line: u8) -> u32 {
        self.transitions[(state as usize * 2 + usize::from(forth)) * self.shape.lines + usize::from(goal_line)]
    }

    /// Parameters of the table.
    pub fn shape(&self) -> WalkingShape {
        self.shape
    }

    /// Number of states.
    pub fn states(&self) -> usize {
        self.distances.len()
    }

    /// Memory of the table in bytes.
    pub fn bytes(&self) -> usize {
        self.distances.len() + size_of_val(self.transitions.as_slice()) + size_of_val(self.keys.as_slice())
    }
}

/// Minimum number of vertical moves that sort the tiles into their rows, plus minimum number of horizontal moves that
/// sort them into their columns (Takahashi 2002).
///
/// Each of the two is an exact distance in a relaxed puzzle. They count different moves, so the sum is consistent.
#[derive(Clone, Debug)]
pub struct WalkingDistance<'t> {
    rows: &'t WalkingTable,
    cols: &'t WalkingTable,
    goal_blank: Cell,
    cells: usize,
    row_of: [u8; Packed64::MAX_CELLS],
    col_of: [u8; Packed64::MAX_CELLS],
}

impl<'t> WalkingDistance<'t> {
    /// Parameters of the two tables of a board: one for its rows, one for its columns.
    pub fn shapes(size: Size, goal_blank: Cell) -> [WalkingShape; 2] {
        let (rows, cols) = (size.rows(), size.cols());
        [
            WalkingShape { lines: rows, width: cols, blank_line: size.row_of(goal_blank) },
            WalkingShape { lines: cols, width: rows, blank_line: size.col_of(goal_blank) },
        ]
    }

    /// Reads h from the tables with these two [shapes](Self::shapes).
    pub fn new(size: Size, goal_blank: Cell, rows: &'t WalkingTable, cols: &'t WalkingTable) -> Self {
        let (mut row_of, mut col_of) = ([0; Packed64::MAX_CELLS], [0; Packed64::MAX_CELLS]);
        for cell in 0..size.cells() {
            row_of[cell] = size.row_of(cell as Cell) as u8;
            col_of[cell] = size.col_of(cell as Cell) as u8;
        }
        Self { rows, cols, goal_blank, cells: size.cells(), row_of, col_of }
    }
}

impl Heuristic<Packed64> for WalkingDistance<'_> {
    type Memo = [u32; 2];

    const ADMISSIBLE: bool = true;

    fn evaluate(&self, state: &State<Packed64>) -> [u32; 2] {
        [
            self.rows.state_of(state, &self.row_of, self.cells, self.goal_blank),
            self.cols.state_of(state, &self.col_of, self.cells, self.goal_blank),
        ]
    }

    #[inline]
    fn after(&self, [rows, cols]: [u32; 2], slide: &Slide, _: &State<Packed64>) -> [u32; 2] {
        let label = usize::from(slide.label) % Packed64::MAX_CELLS;
        match slide.mv {
            Move::Up => [self.rows.after(rows, false, self.row_of[label]), cols],
            Move::Down => [self.rows.after(rows, true, self.row_of[label]), cols],
            Move::Left => [rows, self.cols.after(cols, false, self.col_of[label])],
            Move::Right => [rows, self.cols.after(cols, true, self.col_of[label])],
        }
    }

    #[inline]
    fn h(&self, [rows, cols]: [u32; 2]) -> u32 {
        u32::from(self.rows.distances[rows as usize]) + u32::from(self.cols.distances[cols as usize])
    }

    fn parts(&self, state: &State<Packed64>) -> Vec<Part> {
        let [rows, cols] = self.evaluate(state);
        let vertical = Part::lines(PartOf::Rows, self.rows.distances[rows as usize]);
        vec![vertical, Part::lines(PartOf::Columns, self.cols.distances[cols as usize])]
    }
}
