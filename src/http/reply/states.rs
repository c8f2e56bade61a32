//! The states of a solution path: a list in JSON, boards side by side in text.

use taquin_solver::{Board, Move, Puzzle, Tile};

use super::layout::{Layout, StateOrder};
use super::notation::{EncodedBoard, Letter, Number, grid, grid_width};
use crate::service::Report;

/// A board on the solution path, and the move that led to it.
#[derive(Debug, serde::Serialize)]
pub(crate) struct StateReply {
    #[serde(rename = "move")]
    pub(super) mv: Option<Letter>,
    pub(super) tile: Option<Tile>,
    pub(super) board: EncodedBoard,
    pub(super) g: u32,
    pub(super) h: u32,
    pub(super) f: Number,
}

/// The states of a report, which are read in the order of a layout.
#[derive(Debug)]
pub(super) struct States {
    layout: Layout,
    /// The board of the next state.
    board: Board,
    /// Columns of a state in text.
    columns: usize,
}

/// Spaces between two states in text.
const GAP: usize = 3;

impl States {
    /// Starts at the first state of the order.
    pub(super) fn new(puzzle: &Puzzle, report: &Report, layout: Layout) -> Self {
        let board = match layout.order {
            StateOrder::StartFirst => *puzzle.start(),
            StateOrder::GoalFirst => *puzzle.goal(),
        };
        let columns = if layout.is_text() { columns(report, &board) } else { 0 };
        Self { layout, board, columns }
    }

    /// Returns the state at an index of the list, which follows the last returned one. `None` after the last.
    pub(super) fn next(&mut self, report: &Report, at: usize) -> Option<StateReply> {
        let g = match self.layout.order {
            StateOrder::StartFirst => at,
            StateOrder::GoalFirst => report.heights.len().checked_sub(at + 1)?,
        };
        let h = *report.heights.get(g)?;
        let moves = report.solution.as_ref().map_or(&[][..], |solution| solution.path.moves());
        let tiles = report.solution.as_ref().map_or(&[][..], |solution| &solution.tiles);
        let led_here = g.checked_sub(1);
        let (mv, tile) = (led_here.map(|before| moves[before]), led_here.map(|before| tiles[before]));
        let board = EncodedBoard { board: self.board, encoding: self.layout.encoding };
        let next = match self.layout.order {
            StateOrder::StartFirst => moves.get(g).copied(),
            StateOrder::GoalFirst => mv.map(Move::inverse),
        };
        if let Some(next) = next {
            self.board.make(next);
        }
        let f = Number(report.f(g as u32, h));
        Some(StateReply { mv: mv.map(Letter), tile, board, g: g as u32, h, f })
    }

    /// Appends the text of the states that stand side by side, from an index on. Returns their number.
    pub(super) fn write_row(&mut self, report: &Report, from: usize, text: &mut String) -> usize {
        let most = ((self.layout.width + GAP) / (self.columns + GAP)).max(1);
        let states: Vec<StateReply> = (from..from + most).map_while(|at| self.next(report, at)).collect();
        let blocks: Vec<Vec<String>> = states.iter().map(StateReply::lines).collect();
        for line in 0..blocks.first().map_or(0, Vec::len) {
            let cells = blocks.iter().map(|block| format!("{:<width$}", block[line], width = self.columns + GAP));
            text.push_str(cells.collect::<String>().trim_end());
            text.push('\n');
        }
        states.len()
    }
}

impl StateReply {
    /// The lines of text: the move, the figures, and the board.
    fn lines(&self) -> Vec<String> {
        let step = match (self.mv, self.tile) {
            (Some(Letter(mv)), Some(tile)) => format!("{}: tile {tile}", mv.letter()),
            _ => "start".to_owned(),
        };
        let lines = [step, figures(self.g, self.h, self.f.0)];
        lines.into_iter().chain(grid(&self.board.board).lines().map(str::to_owned)).collect()
    }
}

/// The figures of a state.
fn figures(g: u32, h: u32, f: f64) -> String {
    format!("g {g}, h {h}, f {f}")
}

/// Columns of the widest state of a report: those of its board, or of its figures.
fn columns(report: &Report, board: &Board) -> usize {
    let widths = (0..).zip(&report.heights).map(|(g, h)| figures(g, *h, report.f(g, *h)).len());
    widths.max().unwrap_or(0).max(grid_width(board.size()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::media_type::MediaType;
    use crate::http::reply::writer::tests::report;
    use taquin_solver::Algorithm;

    /// The rows of states that a report has in a text of this width.
    fn rows(width: usize, order: StateOrder) -> (usize, Vec<String>) {
        let (puzzle, report) = report(Algorithm::BreadthFirst, true, 0);
        let layout = Layout { width, order, ..Layout::of(MediaType::Text) };
        let (mut states, mut at, mut rows) = (States::new(&puzzle, &report, layout), 0, Vec::new());
        while at < report.heights.len() {
            let mut row = String::new();
            at += states.write_row(&report, at, &mut row);
            rows.push(row);
        }
        (report.heights.len(), rows)
    }

    #[test]
    fn text_is_as_wide_as_requested_and_has_every_state_once() {
        for (width, most) in [(20, 1), (40, 2), (100, 5), (1_000, 32)] {
            let (states, rows) = rows(width, StateOrder::StartFirst);
            assert_eq!(rows.len(), states.div_ceil(most), "{width}");
            for line in rows.iter().flat_map(|row| row.lines()) {
                assert!(line.len() <= width && line == line.trim_end(), "{width}: {line:?}");
            }
            let captions: String = rows.iter().map(|row| row.lines().next().unwrap().to_owned() + "   ").collect();
            assert_eq!(captions.matches(": tile ").count() + 1, states, "{width}");
        }
    }

    #[test]
    fn a_row_has_the_move_the_figures_and_the_board_of_each_state() {
        let (_, rows) = rows(40, StateOrder::StartFirst);
        let lines: Vec<&str> = rows[0].lines().collect();
        assert_eq!(lines[0], "start             U: tile 5");
        assert_eq!(lines[1], "g 0, h 0, f 0     g 1, h 0, f 1");
        assert_eq!(lines[2..], ["8 6 7             8 6 7", "2 5 4             2 . 4", "3 . 1             3 5 1"]);
    }

    #[test]
    fn the_goal_comes_first_if_requested() {
        let (states, there) = rows(20, StateOrder::StartFirst);
        let (_, mut back) = rows(20, StateOrder::GoalFirst);
        assert_eq!(back.len(), states);
        back.reverse();
        assert_eq!(back, there);
    }
}
