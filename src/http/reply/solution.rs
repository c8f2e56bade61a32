//! Response of `/solve` as JSON and text.

use std::fmt::{Display, from_fn};

use super::notation::{Letter, Number, Rows, grid};
use super::search::{LimitsReply, SearchReply};
use crate::domain::{Board, Move, Puzzle, Tile};
use crate::http::problem::Problem;
use crate::search::Expansion;
use crate::service::{Report, Solution};

/// Response of `/solve` without its lists. The [writer](super::whole) takes these from the report.
#[derive(Debug)]
pub(crate) struct SolveReply {
    pub(crate) length: usize,
    pub(crate) optimal: bool,
    pub(crate) lower_bound: u32,
    pub(crate) percentile: Option<f64>,
    pub(crate) start: Rows,
    pub(crate) goal: Rows,
    pub(crate) search: SearchReply,
    pub(crate) limits: LimitsReply,
}

/// An interim solution, or the best one of a search that a limit stopped.
#[derive(Debug, serde::Serialize)]
pub(crate) struct SolutionReply<'r> {
    pub(crate) length: usize,
    pub(crate) optimal: bool,
    pub(crate) lower_bound: u32,
    pub(crate) moves: String,
    pub(crate) tiles: &'r [Tile],
}

/// The `solution` event: a solution found so far, and its time.
#[derive(Debug, serde::Serialize)]
pub(crate) struct InterimReply<'r> {
    #[serde(flatten)]
    pub(crate) solution: SolutionReply<'r>,
    pub(crate) elapsed_us: u64,
}

#[derive(Debug, serde::Serialize)]
pub(crate) struct StateReply {
    #[serde(rename = "move")]
    mv: Option<Letter>,
    tile: Option<Tile>,
    board: Rows,
    g: u32,
    h: u32,
    f: Number,
}

#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct ExpansionReply {
    board: Rows,
    #[serde(rename = "move")]
    mv: Option<Letter>,
    tile: Option<Tile>,
    parent: Option<u32>,
    g: u32,
    h: u32,
    f: Number,
}

impl<'r> SolutionReply<'r> {
    pub(crate) fn new(report: &'r Report) -> Option<Self> {
        let solution = report.solution.as_ref()?;
        Some(Self {
            length: solution.path.len(),
            optimal: report.is_optimal(),
            lower_bound: report.lower_bound,
            moves: solution.path.letters(),
            tiles: &solution.tiles,
        })
    }
}

impl SolveReply {
    /// Creates the response for a search that no limit stopped, and returns its solution as well.
    ///
    /// # Errors
    /// `internal` if the report has no solution, which is a bug.
    pub(crate) fn new<'r>(puzzle: &Puzzle, report: &'r Report) -> Result<(Self, &'r Solution), Problem> {
        let solution = report.solution.as_ref().ok_or_else(no_result)?;
        let reply = Self {
            length: solution.path.len(),
            optimal: report.is_optimal(),
            lower_bound: report.lower_bound,
            percentile: report.percentile,
            start: Rows(*puzzle.start()),
            goal: Rows(*puzzle.goal()),
            search: SearchReply::new(report),
            limits: LimitsReply::new(report),
        };
        Ok((reply, solution))
    }

    /// First part of the text: the start, and the length of the solution.
    pub(crate) fn summary(&self) -> impl Display {
        from_fn(|f| {
            writeln!(f, "{}", grid(&self.start.0))?;
            let moves = if self.length == 1 { "move" } else { "moves" };
            match (self.length, self.optimal) {
                (0, _) => writeln!(f, "Already solved."),
                (length, true) => writeln!(f, "{length} {moves}, optimal."),
                (length, false) => writeln!(f, "{length} {moves}; no solution has fewer than {}.", self.lower_bound),
            }
        })
    }

    /// Last part of a text without states: the goal.
    pub(crate) fn ending(&self) -> impl Display {
        from_fn(|f| write!(f, "\n{}", grid(&self.goal.0)))
    }
}

/// Logs and returns the internal error of a search that ended with neither a solution nor a limit, which is a bug.
pub(crate) fn no_result() -> Problem {
    tracing::error!(target: "taquin::http::problem", "a search ended with neither a solution nor a limit");
    Problem::internal()
}

impl StateReply {
    /// Creates the state for a board on the solution path and the step that led to it.
    pub(crate) fn new(report: &Report, step: Option<(Move, Tile)>, board: Board, g: u32, h: u32) -> Self {
        let (mv, tile) = (step.map(|(mv, _)| Letter(mv)), step.map(|(_, tile)| tile));
        Self { mv, tile, board: Rows(board), g, h, f: Number(report.f(g, h)) }
    }
}

impl ExpansionReply {
    /// A line of text, which starts with the index of the node.
    pub(crate) fn line(&self, index: usize) -> impl Display {
        from_fn(move |f| {
            let (board, g, h, sum) = (self.board.0, self.g, self.h, self.f.0);
            write!(f, "{index}: {board}  g {g}  h {h}  f {sum}")?;
            if let (Some(Letter(mv)), Some(parent)) = (self.mv, self.parent) {
                write!(f, " from {parent} by {}", mv.letter())?;
            }
            writeln!(f)
        })
    }
}

impl From<&Expansion> for ExpansionReply {
    fn from(expansion: &Expansion) -> Self {
        Self {
            board: Rows(expansion.board),
            mv: expansion.arrived_by.map(|(mv, _)| Letter(mv)),
            tile: expansion.arrived_by.map(|(_, tile)| tile),
            parent: expansion.parent,
            g: expansion.g,
            h: expansion.h,
            f: Number(expansion.f),
        }
    }
}

impl Display for StateReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let letter = self.mv.map_or(' ', |Letter(mv)| mv.letter());
        let (tile, g, h, sum) = (self.tile.unwrap_or_default(), self.g, self.h, self.f.0);
        write!(f, "\n{letter}: tile {tile}, g {g}, h {h}, f {sum}\n{}", grid(&self.board.0))
    }
}
