//! The answer of `/solve`, as JSON and as text.

use std::fmt::{Display, Write, from_fn};

use serde::ser::{Serialize, SerializeSeq, Serializer};

use crate::domain::{Board, Move, Puzzle, Tile};
use crate::http::problem::{Problem, ProblemKind};
use crate::search::{Algorithm, Expansion, Named, effective_branching_factor};
use crate::service::{Report, Solution};

/// A board as an array of rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows(pub(crate) Board);

impl Serialize for Rows {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows = serializer.serialize_seq(Some(self.0.size().rows()))?;
        for row in self.0.rows() {
            rows.serialize_element(row)?;
        }
        rows.end()
    }
}

/// A move as its letter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Letter(pub(crate) Move);

impl Serialize for Letter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_char(self.0.letter())
    }
}

/// Response of `/solve`, without its lists, which the [writer](super::whole) takes from the report.
#[derive(Debug)]
pub(crate) struct SolveReply {
    pub(crate) length: usize,
    pub(crate) optimal: bool,
    pub(crate) lower_bound: u32,
    pub(crate) start: Rows,
    pub(crate) goal: Rows,
    pub(crate) search: SearchReply,
    pub(crate) limits: LimitsReply,
}

/// What was searched and spent.
#[derive(Debug, serde::Serialize)]
pub(crate) struct SearchReply {
    pub(crate) algorithm: &'static str,
    pub(crate) heuristic: Option<&'static str>,
    pub(crate) admissible: bool,
    pub(crate) expanded: u64,
    pub(crate) generated: u64,
    pub(crate) duplicates: u64,
    pub(crate) reopened: u64,
    pub(crate) peak_open: u64,
    pub(crate) iterations: u32,
    pub(crate) initial_h: u32,
    pub(crate) effective_branching_factor: Option<f64>,
    pub(crate) elapsed_us: u64,
}

/// The limits that were in force.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(crate) struct LimitsReply {
    pub(crate) time_ms: u64,
    pub(crate) expanded: u64,
    pub(crate) nodes: u64,
}

/// A solution that is not all that was required.
#[derive(Debug, serde::Serialize)]
pub(crate) struct SolutionReply<'r> {
    pub(crate) length: usize,
    pub(crate) optimal: bool,
    pub(crate) lower_bound: u32,
    pub(crate) moves: String,
    pub(crate) tiles: &'r [Tile],
}

/// A solution that was found on the way.
#[derive(Debug, serde::Serialize)]
pub(crate) struct InterimReply<'r> {
    #[serde(flatten)]
    pub(crate) solution: SolutionReply<'r>,
    pub(crate) elapsed_us: u64,
}

/// How far a search is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
pub(crate) struct ProgressReply {
    pub(crate) expanded: u64,
    pub(crate) generated: u64,
    pub(crate) lower_bound: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) threshold: Option<u32>,
    /// Of the shortest solution so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) length: Option<usize>,
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

/// A number that is written without a fraction where it has none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number(pub(crate) f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.fract() == 0.0 { serializer.serialize_u64(self.0 as u64) } else { serializer.serialize_f64(self.0) }
    }
}

impl SearchReply {
    pub(crate) fn new(report: &Report) -> Self {
        let stats = report.stats;
        // A solution that another search found says nothing of this one's tree, nor does one of many searches.
        let is_its_own = match report.algorithm {
            Algorithm::Constructive => true,
            Algorithm::Anytime => false,
            _ => report.search_stopped.is_none(),
        };
        let solution = report.solution.as_ref().filter(|_| is_its_own);
        let length = solution.map_or(0, |solution| solution.path.len());
        Self {
            algorithm: report.algorithm.name(),
            heuristic: (report.algorithm != Algorithm::Constructive).then(|| report.heuristic.name()),
            admissible: report.heuristic.is_admissible(),
            expanded: stats.expanded,
            generated: stats.generated,
            duplicates: stats.duplicates,
            reopened: stats.reopened,
            peak_open: stats.peak_open,
            iterations: stats.iterations,
            initial_h: stats.initial_h,
            effective_branching_factor: effective_branching_factor(stats.generated, length),
            elapsed_us: report.elapsed.as_micros() as u64,
        }
    }
}

impl LimitsReply {
    pub(crate) fn new(report: &Report) -> Self {
        let limits = report.limits;
        Self { time_ms: limits.time.as_millis() as u64, expanded: limits.expanded, nodes: limits.nodes }
    }
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
    /// The response for a report that no limit stopped, and its solution.
    ///
    /// # Errors
    /// `internal` if the report has no solution, which is a bug.
    pub(crate) fn new<'r>(puzzle: &Puzzle, report: &'r Report) -> Result<(Self, &'r Solution), Problem> {
        let Some(solution) = &report.solution else {
            return Err(Problem::new(ProblemKind::Internal, "The search ended with neither a solution nor a limit."));
        };
        let reply = Self {
            length: solution.path.len(),
            optimal: report.is_optimal(),
            lower_bound: report.lower_bound,
            start: Rows(*puzzle.start()),
            goal: Rows(*puzzle.goal()),
            search: SearchReply::new(report),
            limits: LimitsReply::new(report),
        };
        Ok((reply, solution))
    }

    /// Beginning of the text: the start, and the length of the solution.
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

    /// The goal, for a text without states.
    pub(crate) fn ending(&self) -> impl Display {
        from_fn(|f| write!(f, "\n{}", grid(&self.goal.0)))
    }
}

impl StateReply {
    /// A board along the solution, and what led to it.
    pub(crate) fn new(report: &Report, step: Option<(Move, Tile)>, board: Board, g: u32, h: u32) -> Self {
        let (mv, tile) = (step.map(|(mv, _)| Letter(mv)), step.map(|(_, tile)| tile));
        Self { mv, tile, board: Rows(board), g, h, f: Number(report.f(g, h)) }
    }
}

impl ExpansionReply {
    /// The first nodes of a search, if they were asked for.
    pub(crate) fn of(report: &Report) -> Option<Vec<Self>> {
        Some(report.expansions.as_ref()?.iter().map(Self::from).collect())
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

/// A board as a grid, its numbers right-aligned and the blank a dot.
pub(crate) fn grid(board: &Board) -> String {
    let width = (board.size().cells() - 1).to_string().len();
    let mut grid = String::new();
    for row in board.rows() {
        let cells = row.iter().map(|tile| match tile {
            0 => format!("{:>width$}", "."),
            tile => format!("{tile:>width$}"),
        });
        grid.push_str(&cells.collect::<Vec<_>>().join(" "));
        grid.push('\n');
    }
    grid
}

impl Display for StateReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let letter = self.mv.map_or(' ', |Letter(mv)| mv.letter());
        let (tile, g, h, sum) = (self.tile.unwrap_or_default(), self.g, self.h, self.f.0);
        write!(f, "\n{letter}: tile {tile}, g {g}, h {h}, f {sum}\n{}", grid(&self.board.0))
    }
}

/// A line for each expanded node, as the older tutorial prints them.
pub(crate) struct ExpansionLines<'a>(pub(crate) &'a [ExpansionReply]);

impl std::fmt::Display for ExpansionLines<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().enumerate().try_for_each(|(index, node)| write!(f, "{}", ExpansionLine(index, node)))
    }
}

/// One of them, and its number.
pub(crate) struct ExpansionLine<'a>(pub(crate) usize, pub(crate) &'a ExpansionReply);

impl Display for ExpansionLine<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(index, node) = self;
        let mut from = String::new();
        if let (Some(Letter(mv)), Some(parent)) = (node.mv, node.parent) {
            write!(from, " from {parent} by {}", mv.letter())?;
        }
        let (board, g, h, sum) = (node.board.0, node.g, node.h, node.f.0);
        writeln!(f, "{index}: {board}  g {g}  h {h}  f {sum}{from}")
    }
}

impl std::fmt::Display for SearchReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let with = self.heuristic.map_or_else(String::new, |heuristic| format!(" with {heuristic}"));
        let Self { algorithm, expanded, generated, elapsed_us, .. } = self;
        writeln!(f, "{algorithm}{with}: {expanded} expanded, {generated} generated, {elapsed_us} µs")
    }
}
