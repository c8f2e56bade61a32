//! Linear conflict.

use super::{Heuristic, Manhattan};
use crate::domain::{Cell, Move, Packed, Size};
use crate::search::{Slide, State};

/// Manhattan distance, plus two moves for each tile that must leave its line so that another can pass (Hansson, Mayer
/// & Yung 1992).
///
/// Of the tiles in their goal row, a longest subsequence in the order of their goal columns may stay. Each other tile
/// must leave the row and return, which takes two vertical moves that Manhattan distance does not count. The same holds
/// for columns. The heuristic is consistent.
#[derive(Clone, Debug)]
pub struct LinearConflict {
    size: Size,
    goal_blank: Cell,
    manhattan: Manhattan,
}

/// A row or a column.
#[derive(Clone, Copy)]
enum Line {
    Row(usize),
    Col(usize),
}

impl LinearConflict {
    /// For boards of a shape with the given goal cell of the blank.
    pub fn new(size: Size, goal_blank: Cell) -> Self {
        Self { size, goal_blank, manhattan: Manhattan::new(size, goal_blank) }
    }

    /// Number of moves that a line adds: two for each tile that must leave it.
    fn added_by<P: Packed>(&self, state: &State<P>, line: Line) -> u16 {
        let size = self.size;
        let length = match line {
            Line::Row(_) => size.cols(),
            Line::Col(_) => size.rows(),
        };
        // ends[k]: the least last element of an increasing subsequence of k + 1 tiles.
        let mut ends = [0; Size::MAX_SIDE];
        let (mut tiles, mut longest) = (0, 0);
        for at in 0..length {
            let cell = match line {
                Line::Row(row) => size.cell_at(row, at),
                Line::Col(col) => size.cell_at(at, col),
            };
            let label = state.tiles.get(cell);
            let place = match line {
                Line::Row(row) if size.row_of(label) == row => size.col_of(label),
                Line::Col(col) if size.col_of(label) == col => size.row_of(label),
                _ => continue,
            };
            if label == self.goal_blank {
                continue;
            }
            tiles += 1;
            let run = ends[..longest].iter().position(|end| *end > place).unwrap_or(longest);
            ends[run] = place;
            longest = longest.max(run + 1);
        }
        2 * (tiles - longest) as u16
    }
}

impl<P: Packed> Heuristic<P> for LinearConflict {
    type Memo = u16;

    const ADMISSIBLE: bool = true;

    fn evaluate(&self, state: &State<P>) -> u16 {
        let rows = (0..self.size.rows()).map(|row| self.added_by(state, Line::Row(row)));
        let cols = (0..self.size.cols()).map(|col| self.added_by(state, Line::Col(col)));
        self.manhattan.evaluate(state) + rows.chain(cols).sum::<u16>()
    }

    /// Only the tile's goal row or goal column can change, and only if the tile slides into it or out of it.
    fn after(&self, memo: u16, slide: &Slide, state: &State<P>) -> u16 {
        let after = self.manhattan.after(memo, slide, state);
        let size = self.size;
        let changed = match slide.mv {
            Move::Up | Move::Down => {
                let row = size.row_of(slide.label);
                (row == size.row_of(slide.from) || row == size.row_of(slide.to)).then_some(Line::Row(row))
            }
            Move::Left | Move::Right => {
                let col = size.col_of(slide.label);
                (col == size.col_of(slide.from) || col == size.col_of(slide.to)).then_some(Line::Col(col))
            }
        };
        changed.map_or(after, |line| {
            let mut before = *state;
            before.slide(slide.to);
            after + self.added_by(state, line) - self.added_by(&before, line)
        })
    }

    #[inline]
    fn h(&self, memo: u16) -> u32 {
        u32::from(memo)
    }
}
