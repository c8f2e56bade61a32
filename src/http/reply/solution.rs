//! Response of `/solve` as JSON and text.

use std::fmt::{Display, Formatter, Result as FmtResult, from_fn};

use taquin_bulk::counted;
use taquin_solver::search::{GeneratedNode, OptimalPaths};
use taquin_solver::{Metric, Path, Puzzle, Solution, Tile};

use super::lists::{ExpansionReply, GeneratedReply, IterationReply, ListsReply};
use super::notation::{EncodedBoard, Layout, grid};
use super::search::{LimitsReply, SearchReply};
use super::states::{StateReply, states, write_rows};
use crate::http::problem::Problem;
use crate::service::Report;

/// Response of `/solve`. It flattens no fields, since flattened fields are slow to write.
#[derive(Debug, serde::Serialize)]
pub(crate) struct SolveReply<'r> {
    length: usize,
    optimal: bool,
    lower_bound: u32,
    percentile: Option<f64>,
    moves: String,
    tiles: &'r [Tile],
    lengths: LengthsReply,
    alg: String,
    scramble: String,
    start: EncodedBoard,
    goal: EncodedBoard,
    pub(crate) search: SearchReply,
    limits: LimitsReply,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) states: Vec<StateReply>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expansions: Option<Vec<ExpansionReply>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generated_nodes: Option<Vec<GeneratedReply>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    iterations: Option<Vec<IterationReply>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    solutions: Option<SolutionsReply>,
    #[serde(skip)]
    pub(super) puzzle: Puzzle,
    #[serde(skip)]
    pub(super) solution: &'r Solution,
    #[serde(skip)]
    pub(super) report: &'r Report,
    #[serde(skip)]
    pub(super) layout: Layout,
}

/// Length of a solution, and the proven lower bound.
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

/// An interim solution, or the best solution of a search that a limit stopped.
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

impl<'r> SolveReply<'r> {
    /// Creates the response for a search that no limit stopped.
    ///
    /// # Errors
    /// `internal` if the report has no solution, which is a bug.
    pub(crate) fn new(puzzle: &Puzzle, report: &'r Report, layout: Layout) -> Result<Self, Problem> {
        let solution = report.solution.as_ref().ok_or_else(no_result)?;
        let encoding = layout.encoding;
        let ProvenLength { length, optimal, lower_bound } = ProvenLength::new(report, &solution.path);
        let MovesReply { moves, tiles, lengths, alg, scramble } = MovesReply::new(&solution.path, &solution.tiles);
        let ListsReply { expansions, generated_nodes, iterations } = ListsReply::new(report, encoding);
        Ok(Self {
            length,
            optimal,
            lower_bound,
            percentile: report.percentile,
            moves,
            tiles,
            lengths,
            alg,
            scramble,
            start: EncodedBoard { board: *puzzle.start(), encoding },
            goal: EncodedBoard { board: *puzzle.goal(), encoding },
            search: SearchReply::new(report),
            limits: LimitsReply::new(report.limits),
            states: states(puzzle, report, layout),
            expansions,
            generated_nodes,
            iterations,
            solutions: report.solutions.as_ref().map(SolutionsReply::from),
            puzzle: *puzzle,
            solution,
            report,
            layout,
        })
    }

    /// A sentence with the length of the solution.
    pub(super) fn result(&self) -> impl Display {
        from_fn(|f| {
            let Self { length, optimal, lower_bound, .. } = *self;
            let moves = match self.report.metric {
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
}

/// Text for a terminal: the start, the solution, the goal or all states, the lists and the counters.
impl Display for SolveReply<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        let Self { moves, tiles, alg, states, layout, .. } = self;
        writeln!(f, "{}\n{}", grid(self.puzzle.start()), self.result())?;
        if self.length > 0 {
            let tiles: Vec<String> = tiles.iter().map(ToString::to_string).collect();
            writeln!(f, "Blank: {moves}\nTiles: {}\nAlg:   {alg}", tiles.join(" "))?;
        }
        if states.is_empty() {
            write!(f, "\n{}", grid(self.puzzle.goal()))?;
        } else {
            write_rows(states, layout.width, f)?;
        }
        write!(f, "{}", ListsReply::new(self.report, layout.encoding).lines("\n"))?;
        if let Some(solutions) = &self.solutions {
            write!(f, "\n{solutions}")?;
        }
        write!(f, "\n{}", self.search)
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
