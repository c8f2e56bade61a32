//! Response of `/solve` as JSON and text.

use std::fmt::{Display, from_fn};

use taquin_solver::search::{Expansion, GeneratedNode, IterationCounts, OptimalPaths, Verdict};
use taquin_solver::{Encoding, Metric, Named, Path, Puzzle, Solution, Tile};

use super::notation::{EncodedBoard, Letter, Number, counted, grid, line};
use super::search::{LimitsReply, SearchReply};
use crate::http::problem::Problem;
use crate::service::Report;

/// Response of `/solve` without its lists. The [writer](super::whole) takes these from the report.
#[derive(Debug)]
pub(crate) struct SolveReply {
    pub(crate) proven: ProvenLength,
    pub(crate) lengths: LengthsReply,
    pub(crate) percentile: Option<f64>,
    pub(crate) puzzle: Puzzle,
    pub(crate) metric: Metric,
    pub(crate) search: SearchReply,
    pub(crate) limits: LimitsReply,
}

/// Length of a solution, and what is proven about it.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(crate) struct ProvenLength {
    pub(crate) length: usize,
    pub(crate) optimal: bool,
    pub(crate) lower_bound: u32,
}

/// Length of a path in both metrics.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(crate) struct LengthsReply {
    pub(crate) single_tile: usize,
    pub(crate) multi_tile: usize,
}

/// The moves of a solution in every notation.
#[derive(Debug, serde::Serialize)]
pub(crate) struct MovesReply<'r> {
    moves: String,
    tiles: &'r [Tile],
    lengths: LengthsReply,
    alg: String,
    scramble: String,
}

/// An interim solution, or the best one of a search that a limit stopped.
#[derive(Debug, serde::Serialize)]
pub(crate) struct SolutionReply<'r> {
    #[serde(flatten)]
    pub(crate) proven: ProvenLength,
    #[serde(flatten)]
    pub(crate) moves: MovesReply<'r>,
}

/// All optimal solutions, or the first of them.
#[derive(Debug, serde::Serialize)]
pub(crate) struct SolutionsReply {
    count: Option<u64>,
    moves: Vec<String>,
    expanded: u64,
}

/// The `solution` event: a solution found so far, and its time.
#[derive(Debug, serde::Serialize)]
pub(crate) struct InterimReply<'r> {
    #[serde(flatten)]
    pub(crate) solution: SolutionReply<'r>,
    pub(crate) elapsed_us: u64,
}

#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct ExpansionReply {
    board: EncodedBoard,
    #[serde(rename = "move")]
    mv: Option<Letter>,
    tile: Option<Tile>,
    parent: Option<u32>,
    g: u32,
    h: u32,
    f: Number,
    open: Option<u32>,
    closed: Option<u32>,
}

#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct GeneratedReply {
    id: usize,
    parent: Option<u32>,
    #[serde(rename = "move")]
    mv: Option<Letter>,
    board: EncodedBoard,
    g: u32,
    h: u32,
    manhattan: u32,
    verdict: &'static str,
}

/// An iteration of IDA\* or iterative deepening.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(crate) struct IterationReply {
    threshold: u32,
    expanded: u64,
    generated: u64,
}

impl ProvenLength {
    fn new(report: &Report, path: &Path) -> Self {
        Self { length: path.length(report.metric), optimal: report.is_optimal(), lower_bound: report.lower_bound }
    }
}

impl From<&Path> for LengthsReply {
    fn from(path: &Path) -> Self {
        Self { single_tile: path.len(), multi_tile: path.multi_tile_length() }
    }
}

impl<'r> MovesReply<'r> {
    pub(crate) fn new(path: &Path, tiles: &'r [Tile]) -> Self {
        Self { moves: path.letters(), tiles, lengths: path.into(), alg: path.alg(), scramble: path.scramble() }
    }
}

impl<'r> SolutionReply<'r> {
    pub(crate) fn new(report: &'r Report) -> Option<Self> {
        let Solution { path, tiles } = report.solution.as_ref()?;
        Some(Self { proven: ProvenLength::new(report, path), moves: MovesReply::new(path, tiles) })
    }
}

impl From<&OptimalPaths> for SolutionsReply {
    fn from(OptimalPaths { count, paths, expanded }: &OptimalPaths) -> Self {
        Self { count: *count, moves: paths.iter().map(Path::letters).collect(), expanded: *expanded }
    }
}

/// A line with the number, and a line for each solution.
impl Display for SolutionsReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.count {
            Some(count) => writeln!(f, "{}:", counted(count, "optimal solution"))?,
            None => writeln!(f, "The first optimal solutions:")?,
        }
        self.moves.iter().try_for_each(|moves| writeln!(f, "{moves}"))
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
            proven: ProvenLength::new(report, &solution.path),
            lengths: LengthsReply::from(&solution.path),
            percentile: report.percentile,
            puzzle: *puzzle,
            metric: report.metric,
            search: SearchReply::new(report),
            limits: LimitsReply::new(report.limits),
        };
        Ok((reply, solution))
    }

    /// First part of the text: the start, and the length of the solution.
    pub(crate) fn summary(&self) -> impl Display {
        from_fn(|f| writeln!(f, "{}\n{}", grid(self.puzzle.start()), self.result()))
    }

    /// A sentence with the length of the solution.
    pub(super) fn result(&self) -> impl Display {
        from_fn(|f| {
            let ProvenLength { length, optimal, lower_bound } = self.proven;
            let moves = match self.metric {
                Metric::SingleTile => counted(length as u64, "move"),
                Metric::MultiTile => format!("{} of one or more tiles", counted(length as u64, "move")),
            };
            match (length, optimal) {
                (0, _) => write!(f, "Already solved."),
                (_, true) => write!(f, "{moves}, optimal."),
                (_, false) => write!(f, "{moves}; no solution has fewer than {lower_bound}."),
            }
        })
    }

    /// Last part of a text without states: the goal.
    pub(crate) fn ending(&self) -> impl Display {
        from_fn(|f| write!(f, "\n{}", grid(self.puzzle.goal())))
    }
}

/// The figures of a node in a picture. Without a heuristic it has only its depth.
pub(super) fn node_figures(report: &Report, node: &GeneratedNode) -> impl Display {
    let GeneratedNode { g, h, .. } = *node;
    let f_value = report.algorithm.takes_heuristic().then(|| report.f(g, h));
    from_fn(move |f| match f_value {
        Some(f_value) => write!(f, "g {g}, h {h}, f {f_value}"),
        None => write!(f, "g {g}"),
    })
}

/// Logs and returns the internal error of a search that ended with neither a solution nor a limit, which is a bug.
pub(crate) fn no_result() -> Problem {
    tracing::error!(target: "taquin::http::problem", "a search ended with neither a solution nor a limit");
    Problem::internal()
}

impl ExpansionReply {
    pub(crate) fn new(expansion: &Expansion, encoding: Encoding) -> Self {
        Self {
            board: EncodedBoard { board: expansion.board, encoding },
            mv: expansion.arrived_by.map(|(mv, _)| Letter(mv)),
            tile: expansion.arrived_by.map(|(_, tile)| tile),
            parent: expansion.parent,
            g: expansion.g,
            h: expansion.h,
            f: Number(expansion.f),
            open: expansion.lists.map(|lists| lists.open),
            closed: expansion.lists.map(|lists| lists.closed),
        }
    }

    /// A line of text, which starts with the index of the node.
    pub(crate) fn line(&self, index: usize) -> impl Display {
        from_fn(move |f| {
            let (board, g, h, sum) = (self.board.board, self.g, self.h, self.f.0);
            write!(f, "{index}: {board}  g {g}  h {h}  f {sum}")?;
            if let (Some(Letter(mv)), Some(parent)) = (self.mv, self.parent) {
                write!(f, " from {parent} by {}", mv.letter())?;
            }
            if let (Some(open), Some(closed)) = (self.open, self.closed) {
                write!(f, ", open {open}, closed {closed}")?;
            }
            writeln!(f)
        })
    }
}

impl GeneratedReply {
    /// Creates the entry of a node at an index of the list.
    pub(crate) fn new(id: usize, node: &GeneratedNode, encoding: Encoding) -> Self {
        let GeneratedNode { board, mv, parent, g, h, manhattan, verdict } = *node;
        let board = EncodedBoard { board, encoding };
        Self { id, parent, mv: mv.map(Letter), board, g, h, manhattan, verdict: verdict.name() }
    }
}

/// A line of text, as tutorials write it, and the verdict unless the node is new.
impl Display for GeneratedReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { id, board: EncodedBoard { board, .. }, g, manhattan, verdict, .. } = self;
        write!(f, "{id} - Node {{ {} | D: {g}, MD: {manhattan} }}", line(board))?;
        if *verdict == Verdict::New.name() { writeln!(f) } else { writeln!(f, " {verdict}") }
    }
}

impl From<&IterationCounts> for IterationReply {
    fn from(counts: &IterationCounts) -> Self {
        let IterationCounts { threshold, expanded, generated } = *counts;
        Self { threshold, expanded, generated }
    }
}

impl Display for IterationReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { threshold, expanded, generated } = self;
        writeln!(f, "threshold {threshold}: {expanded} expanded, {generated} generated")
    }
}
