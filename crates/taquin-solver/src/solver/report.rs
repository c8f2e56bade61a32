//! The result of a search.

use std::fmt;
use std::time::Duration;

use crate::domain::{Metric, Path, Tile};
use crate::search::heuristic::{PatternUse, Tier};
use crate::search::{
    Algorithm, Expansions, GeneratedNodes, HeuristicKind, IterationCounts, OptimalPaths, Stats, StopReason, Weight,
    effective_branching_factor,
};

/// A replayed solution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Solution {
    /// Moves from the start to the goal.
    pub path: Path,
    /// The tile that slides at each move.
    pub tiles: Vec<Tile>,
}

/// A solution, how good it is, and the counters of its search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Solved {
    /// Moves from the start to the goal.
    pub path: Path,
    /// The tile that slides at each move.
    pub tiles: Vec<Tile>,
    /// Proven lower bound on the length of any solution.
    pub lower_bound: u32,
    /// Counters of the search.
    pub stats: Stats,
}

impl Solved {
    /// True if no solution is shorter.
    pub fn is_optimal(&self) -> bool {
        self.path.len() == self.lower_bound as usize
    }
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Report {
    /// The solution, if any, even if it is not proven optimal as required.
    pub solution: Option<Solution>,
    /// The limit that left the requirement unmet.
    pub stopped: Option<StopReason>,
    /// How the length of the solution and the lower bound are counted.
    pub metric: Metric,
    /// Proven lower bound on the solution length.
    pub lower_bound: u32,
    /// The algorithm that found the solution or was stopped.
    pub algorithm: Algorithm,
    /// The heuristic of that algorithm; `Zero` if it takes none, or if the tables of the chosen patterns were not built
    /// in time.
    pub heuristic: HeuristicKind,
    /// The strongest pattern tables that were used, if any, also by a search whose solution was replaced.
    pub tables: Option<Tier>,
    /// The tables of the patterns that the request chose; empty if it chose none, or if they were not built in time.
    pub patterns: Vec<PatternUse>,
    /// Weight of h, for weighted A*.
    pub weight: Weight,
    /// Counters of the search.
    pub stats: Stats,
    /// The first expansions, if requested.
    pub expansions: Option<Expansions>,
    /// The first generated nodes, if requested.
    pub generated: Option<GeneratedNodes>,
    /// The iterations, if requested.
    pub iterations: Option<Vec<IterationCounts>>,
    /// All optimal solutions, if requested.
    pub solutions: Option<OptimalPaths>,
    /// True if the optimal length is proven, but a limit ended the search for all solutions.
    pub lacks_solutions: bool,
    /// Heuristic value of each board along the solution, from the start, if requested.
    pub heights: Vec<u32>,
    /// The limit that stopped the search, even if there is a solution.
    pub search_stopped: Option<StopReason>,
    /// Time of the search and the replay, with the construction of the tables that the request chose.
    pub elapsed: Duration,
}

impl Report {
    /// Estimated memory of the lists of the report, in bytes.
    pub fn list_bytes(&self) -> usize {
        let path = self.solution.as_ref().map_or(0, |solution| 2 * solution.path.len());
        let expansions = self.expansions.as_ref().map_or(0, Expansions::bytes);
        let generated = self.generated.as_ref().map_or(0, GeneratedNodes::bytes);
        let iterations = self.iterations.as_ref().map_or(0, Vec::capacity) * size_of::<IterationCounts>();
        let solutions = self
            .solutions
            .as_ref()
            .map_or(0, |solutions| solutions.paths.iter().map(|path| size_of::<Path>() + path.len()).sum());
        path + solutions + expansions + generated + iterations + 4 * self.heights.len()
    }

    /// f of a board along the solution, as the algorithm computes it.
    pub fn f(&self, g: u32, h: u32) -> f64 {
        let (g, h) = (f64::from(g), f64::from(h));
        match self.algorithm {
            Algorithm::GreedyBestFirst => h,
            Algorithm::WeightedAStar => g + h * f64::from(self.weight.hundredths()) / 100.0,
            _ => g + h,
        }
    }

    /// [Effective branching factor](effective_branching_factor) of the search. `None` if the solution has no moves, or is
    /// not the solution of this one search: a limit ended the search, or several searches improved the solution.
    pub fn effective_branching_factor(&self) -> Option<f64> {
        let is_of_one_search = match self.algorithm {
            Algorithm::Constructive => true,
            Algorithm::Anytime => false,
            _ => self.search_stopped.is_none(),
        };
        let length = self.length().filter(|_| is_of_one_search)?;
        effective_branching_factor(self.stats.generated, length)
    }

    /// True if the solution is proven optimal.
    pub fn is_optimal(&self) -> bool {
        self.length().is_some_and(|length| length == self.lower_bound as usize)
    }

    /// Length of the solution.
    pub fn length(&self) -> Option<usize> {
        self.solution.as_ref().map(|solution| solution.path.length(self.metric))
    }
}

/// A solution did not replay, or is shorter than proven possible: the memory is damaged, or the solver has a bug.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WrongSolution;

impl fmt::Display for WrongSolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a solution does not replay or is shorter than proven possible")
    }
}

impl std::error::Error for WrongSolution {}
