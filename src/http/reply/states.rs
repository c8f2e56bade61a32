//! The states of a solution path: a list in JSON, boards side by side in text.

use std::fmt::{self, Formatter};

use taquin_solver::{Cell, Move, Puzzle, Solution, Tile};

use super::lists::max_entries;
use super::notation::{EncodedBoard, Layout, Letter, Number, StateOrder, grid, grid_width, positions_line};
use crate::service::Report;

/// A board on the solution path, and the move that led to it.
#[derive(Debug, serde::Serialize)]
pub(crate) struct StateReply {
    #[serde(rename = "move")]
    mv: Option<Letter>,
    tile: Option<Tile>,
    board: EncodedBoard,
    blank: Cell,
    g: u32,
    h: u32,
    f: Number,
}

/// Spaces between two states in text.
const GAP: usize = 3;

/// The first states of a solution path, in the order of a layout; empty unless requested.
pub(super) fn states(puzzle: &Puzzle, report: &Report, layout: Layout) -> Vec<StateReply> {
    let Some(Solution { path, tiles }) = &report.solution else { return Vec::new() };
    let (moves, heights) = (path.moves(), &report.heights);
    let is_forward = layout.order == StateOrder::StartFirst;
    let mut board = if is_forward { *puzzle.start() } else { *puzzle.goal() };
    let state = |at: usize| {
        let g = if is_forward { at } else { heights.len() - at - 1 };
        let led_here = g.checked_sub(1).map(|before| (moves[before], tiles[before]));
        let mv = led_here.map(|(mv, _)| mv);
        let reply = StateReply {
            mv: mv.map(Letter),
            tile: led_here.map(|(_, tile)| tile),
            board: EncodedBoard { board, encoding: layout.encoding },
            blank: board.blank(),
            g: g as u32,
            h: heights[g],
            f: Number(report.f(g as u32, heights[g])),
        };
        if let Some(next) = if is_forward { moves.get(g).copied() } else { mv.map(Move::inverse) } {
            board.make(next);
        }
        reply
    };
    (0..heights.len().min(max_entries(puzzle.size()))).map(state).collect()
}

/// Writes states side by side, in lines of at most `width` columns.
pub(super) fn write_rows(states: &[StateReply], width: usize, f: &mut Formatter<'_>) -> fmt::Result {
    let Some(StateReply { board: EncodedBoard { board, .. }, .. }) = states.first() else { return Ok(()) };
    let widths = states.iter().map(|state| state.figures().len());
    let columns = widths.max().unwrap_or(0).max(grid_width(board.size()));
    for row in states.chunks(((width + GAP) / (columns + GAP)).max(1)) {
        let blocks: Vec<Vec<String>> = row.iter().map(StateReply::lines).collect();
        writeln!(f)?;
        for line in 0..blocks[0].len() {
            let cells = blocks.iter().map(|block| format!("{:<width$}", block[line], width = columns + GAP));
            writeln!(f, "{}", cells.collect::<String>().trim_end())?;
        }
    }
    Ok(())
}

/// Writes the positions of each state in a line.
pub(super) fn positions_text(states: &[StateReply]) -> String {
    states.iter().map(|state| positions_line(&state.board.board) + "\n").collect()
}

impl StateReply {
    /// The lines of text: the move, the figures, and the board.
    fn lines(&self) -> Vec<String> {
        let step = match (self.mv, self.tile) {
            (Some(Letter(mv)), Some(tile)) => format!("{}: tile {tile}", mv.letter()),
            _ => "start".to_owned(),
        };
        let lines = [step, self.figures()];
        lines.into_iter().chain(grid(&self.board.board).lines().map(str::to_owned)).collect()
    }

    fn figures(&self) -> String {
        let Self { g, h, f: Number(f), .. } = self;
        format!("g {g}, h {h}, f {f}")
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::from_fn;

    use super::*;
    use crate::http::media_type::MediaType;
    use crate::http::reply::tests::report;
    use taquin_solver::Algorithm;

    /// Number of states of a report, and the rows of states at this width.
    fn rows(width: usize, order: StateOrder) -> (usize, Vec<String>) {
        let (puzzle, report) = report(Algorithm::BreadthFirst, true, 0);
        let states = states(&puzzle, &report, Layout { width, order, ..Layout::of(MediaType::Text) });
        let text = from_fn(|f| write_rows(&states, width, f)).to_string();
        let rows = text.strip_prefix('\n').unwrap().split("\n\n").map(|row| format!("{}\n", row.trim_end()));
        (report.heights.len(), rows.collect())
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

    #[test]
    fn a_long_path_has_its_first_states() {
        let (puzzle, report) = report(Algorithm::DepthFirst, true, 0);
        assert!(report.heights.len() > 2 * max_entries(puzzle.size()));
        let steps = |order| states(&puzzle, &report, Layout { order, ..Layout::of(MediaType::Json) });
        let (there, back) = (steps(StateOrder::StartFirst), steps(StateOrder::GoalFirst));
        assert_eq!((there.len(), back.len()), (max_entries(puzzle.size()), max_entries(puzzle.size())));
        assert_eq!((there[0].board.board, there[0].g), (*puzzle.start(), 0));
        assert_eq!((back[0].board.board, back[0].g as usize), (*puzzle.goal(), report.heights.len() - 1));
    }
}
