//! Linear conflict.

use super::{Heuristic, Line, Manhattan, Part, PartOf};
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

impl LinearConflict {
    /// For boards of a shape with the given goal cell of the blank.
    pub fn new(size: Size, goal_blank: Cell) -> Self {
        Self { size, goal_blank, manhattan: Manhattan::new(size, goal_blank) }
    }

    /// The tiles whose goal line is the line that they are in, in their order: the label, and the place in the goal
    /// line.
    #[inline]
    fn tiles_in_goal_line<P: Packed>(&self, state: &State<P>, line: Line) -> impl Iterator<Item = (u8, usize)> {
        let size = self.size;
        let length = match line {
            Line::Row(_) => size.cols(),
            Line::Col(_) => size.rows(),
        };
        (0..length).filter_map(move |at| {
            let cell = match line {
                Line::Row(row) => size.cell_at(row, at),
                Line::Col(col) => size.cell_at(at, col),
            };
            let label = state.tiles.get(cell);
            let place = match line {
                Line::Row(row) if size.row_of(label) == row => size.col_of(label),
                Line::Col(col) if size.col_of(label) == col => size.row_of(label),
                _ => return None,
            };
            (label != self.goal_blank).then_some((label, place))
        })
    }

    /// All rows, then all columns.
    fn lines(&self) -> impl Iterator<Item = Line> {
        (0..self.size.rows()).map(Line::Row).chain((0..self.size.cols()).map(Line::Col))
    }

    /// The conflict of a line; `None` if all its tiles may stay.
    fn conflict<P: Packed>(&self, state: &State<P>, line: Line) -> Option<Part> {
        let tiles: Vec<(u8, usize)> = self.tiles_in_goal_line(state, line).collect();
        let is_reversed = |a: usize, b: usize| tiles[a.min(b)].1 > tiles[a.max(b)].1;
        let in_conflict = (0..tiles.len()).filter(|a| (0..tiles.len()).any(|b| is_reversed(*a, b)));
        let labels: Vec<u8> = in_conflict.map(|at| tiles[at].0).collect();
        let of = PartOf::Conflict { line, leaving: leaving(&tiles) };
        (!labels.is_empty()).then(|| Part { of, labels, cost: u32::from(self.added_by(state, line)) })
    }

    /// Number of moves that a line adds: two for each tile that must leave it.
    fn added_by<P: Packed>(&self, state: &State<P>, line: Line) -> u16 {
        // ends[k]: the least last element of an increasing subsequence of k + 1 tiles.
        let mut ends = [0; Size::MAX_SIDE];
        let (mut tiles, mut longest) = (0, 0);
        for (_, place) in self.tiles_in_goal_line(state, line) {
            tiles += 1;
            let run = ends[..longest].iter().position(|end| *end > place).unwrap_or(longest);
            ends[run] = place;
            longest = longest.max(run + 1);
        }
        2 * (tiles - longest) as u16
    }
}

/// Labels of the tiles that must leave a line: all but a longest subsequence of ascending places. Of several such
/// subsequences, the first one by its tiles stays.
fn leaving(tiles: &[(u8, usize)]) -> Vec<u8> {
    // By tile: length of the longest ascending subsequence that begins with it.
    let mut longest = vec![1; tiles.len()];
    for at in (0..tiles.len()).rev() {
        let later = (at + 1..tiles.len()).filter(|later| tiles[*later].1 > tiles[at].1);
        longest[at] += later.map(|later| longest[later]).max().unwrap_or(0);
    }
    let (mut left, mut last) = (longest.iter().max().copied().unwrap_or(0), None);
    let mut stays = |place: usize, length: usize| {
        let stays = length == left && last.is_none_or(|last| place > last);
        if stays {
            (left, last) = (left - 1, Some(place));
        }
        stays
    };
    let tiles = tiles.iter().zip(&longest);
    tiles.filter(|((_, place), length)| !stays(*place, **length)).map(|((label, _), _)| *label).collect()
}

impl<P: Packed> Heuristic<P> for LinearConflict {
    type Memo = u16;

    const ADMISSIBLE: bool = true;

    fn evaluate(&self, state: &State<P>) -> u16 {
        self.manhattan.evaluate(state) + self.lines().map(|line| self.added_by(state, line)).sum::<u16>()
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

    fn parts(&self, state: &State<P>) -> Vec<Part> {
        let mut parts = self.manhattan.parts(state);
        parts.extend(self.lines().filter_map(|line| self.conflict(state, line)));
        parts
    }
}
