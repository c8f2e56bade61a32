//! Response of `/compare`, as JSON and as text.

use std::fmt;

use serde_json::Value;
use taquin_solver::{
    DuplicateDetection, Named, Path, Puzzle, SearchOptions, Solution, SuccessorOrder, TieBreaking, Tile, Weight,
};

use crate::http::problem::Problem;
use crate::http::reply::{LengthsReply, LimitsReply, Number, Rows, SearchReply, grid, limit_exceeded, no_result};
use crate::service::Report;

/// Longest solution whose moves are listed. Depth-first search finds solutions of a hundred thousand moves.
const MAX_MOVES: usize = 10_000;

#[derive(Debug, serde::Serialize)]
pub(crate) struct CompareReply {
    start: Rows,
    goal: Rows,
    results: Vec<ResultReply>,
}

/// A method and its result.
#[derive(Debug, serde::Serialize)]
pub(crate) struct ResultReply {
    #[serde(flatten)]
    method: MethodReply,
    #[serde(flatten)]
    outcome: OutcomeReply,
}

/// A method as requested: `auto` for omitted names, without options at their default.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct MethodReply {
    algorithm: &'static str,
    heuristic: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tie_breaking: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duplicate_detection: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    successor_order: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth_limit: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patterns: Option<Vec<Vec<Tile>>>,
}

/// Result of a method, named by its `status`.
#[derive(Debug, serde::Serialize)]
#[serde(tag = "status", rename_all = "lowercase")]
enum OutcomeReply {
    Solved {
        length: usize,
        optimal: bool,
        lower_bound: u32,
        lengths: LengthsReply,
        moves: Option<String>,
        alg: Option<String>,
        scramble: Option<String>,
        search: Box<SearchReply>,
        limits: LimitsReply,
    },
    Failed {
        problem: Box<Problem>,
    },
}

impl CompareReply {
    pub(crate) fn new(puzzle: &Puzzle, results: Vec<ResultReply>) -> Self {
        Self { start: Rows(*puzzle.start()), goal: Rows(*puzzle.goal()), results }
    }

    /// Clears the elapsed times of all searches.
    pub(crate) fn clear_times(&mut self) {
        for result in &mut self.results {
            match &mut result.outcome {
                OutcomeReply::Solved { search, .. } => search.elapsed_us = 0,
                OutcomeReply::Failed { problem } => {
                    let search = problem.members.iter_mut().find(|(name, _)| *name == "search");
                    search.into_iter().for_each(|(_, search)| search["elapsed_us"] = Value::Null);
                }
            }
        }
    }
}

impl ResultReply {
    /// Result of a search that found a solution or exceeded a limit.
    pub(crate) fn new(options: &SearchOptions, report: &Report) -> Self {
        let outcome = match (report.stopped, &report.solution) {
            (Some(stop), _) => return Self::failed(options, limit_exceeded(report, stop)),
            (None, None) => return Self::failed(options, no_result()),
            (None, Some(Solution { path, .. })) => {
                let listed = Some(path).filter(|path| path.len() <= MAX_MOVES);
                OutcomeReply::Solved {
                    length: path.len(),
                    optimal: report.is_optimal(),
                    lower_bound: report.lower_bound,
                    lengths: path.into(),
                    moves: listed.map(Path::letters),
                    alg: listed.map(Path::alg),
                    scramble: listed.map(Path::scramble),
                    search: Box::new(SearchReply::new(report)),
                    limits: LimitsReply::new(report.limits),
                }
            }
        };
        Self { method: MethodReply::new(options), outcome }
    }

    pub(crate) fn failed(options: &SearchOptions, problem: Problem) -> Self {
        Self { method: MethodReply::new(options), outcome: OutcomeReply::Failed { problem: Box::new(problem) } }
    }
}

impl MethodReply {
    pub(crate) fn new(options: &SearchOptions) -> Self {
        let takes_heuristic = options.algorithm.is_none_or(|algorithm| algorithm.takes_heuristic());
        Self {
            algorithm: options.algorithm.map_or("auto", Named::name),
            heuristic: takes_heuristic.then(|| options.heuristic.map_or("auto", Named::name)),
            weight: (options.weight != Weight::ONE).then(|| Number(f64::from(options.weight.hundredths()) / 100.0)),
            tie_breaking: (options.tie_breaking != TieBreaking::default()).then(|| options.tie_breaking.name()),
            duplicate_detection: (options.duplicate_detection != DuplicateDetection::default())
                .then(|| options.duplicate_detection.name()),
            successor_order: (options.successor_order != SuccessorOrder::default())
                .then(|| options.successor_order.letters()),
            depth_limit: options.depth_limit,
            patterns: options.patterns.map(|patterns| patterns.patterns().collect()),
        }
    }
}

/// Text for a terminal: the board, the goal, and a line for each method.
impl fmt::Display for CompareReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n{}", grid(&self.start.0), grid(&self.goal.0))?;
        let names: Vec<String> = self.results.iter().map(|result| result.method.to_string()).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max("method".len());
        writeln!(f, "{:width$} {:>8} {:>12} {:>12} {:>10}", "method", "length", "expanded", "generated", "µs")?;
        for (name, result) in names.iter().zip(&self.results) {
            match &result.outcome {
                OutcomeReply::Solved { length, optimal, search, .. } => {
                    let SearchReply { expanded, generated, elapsed_us, .. } = **search;
                    let mark = if *optimal { ' ' } else { '*' };
                    writeln!(f, "{name:width$} {length:>7}{mark} {expanded:>12} {generated:>12} {elapsed_us:>10}")?;
                }
                OutcomeReply::Failed { problem } => {
                    let limit = problem.members.iter().find(|(name, _)| *name == "limit");
                    let limit = limit.and_then(|(_, limit)| limit.as_str());
                    let limit = limit.map_or_else(String::new, |limit| format!(" ({limit})"));
                    writeln!(f, "{name:width$}       -  {}{limit}", problem.kind.title())?;
                }
            }
        }
        let is_unproven = |result: &ResultReply| matches!(result.outcome, OutcomeReply::Solved { optimal: false, .. });
        if self.results.iter().any(is_unproven) {
            writeln!(f, "\n* not proven optimal")?;
        }
        Ok(())
    }
}

impl MethodReply {
    /// The names of the columns of [`csv`](Self::csv).
    pub(crate) const CSV_NAMES: &str =
        "algorithm,heuristic,weight,tie_breaking,duplicate_detection,successor_order,depth_limit,patterns";

    /// The fields as values of CSV: nothing for options at their default.
    pub(crate) fn csv(&self) -> String {
        let number = |number: Option<String>| number.unwrap_or_default();
        [
            self.algorithm.to_owned(),
            self.heuristic.unwrap_or_default().to_owned(),
            number(self.weight.map(|Number(weight)| weight.to_string())),
            self.tie_breaking.unwrap_or_default().to_owned(),
            self.duplicate_detection.unwrap_or_default().to_owned(),
            self.successor_order.clone().unwrap_or_default(),
            number(self.depth_limit.map(|limit| limit.to_string())),
            self.patterns_as_text(),
        ]
        .join(",")
    }

    /// The patterns as text: a space between tiles, a slash between patterns.
    fn patterns_as_text(&self) -> String {
        let patterns = self.patterns.iter().flatten();
        let patterns = patterns.map(|tiles| tiles.iter().map(Tile::to_string).collect::<Vec<_>>().join(" "));
        patterns.collect::<Vec<_>>().join("/")
    }
}

impl fmt::Display for MethodReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.algorithm)?;
        let words = [self.heuristic, self.tie_breaking, self.duplicate_detection, self.successor_order.as_deref()];
        words.into_iter().flatten().try_for_each(|word| write!(f, " {word}"))?;
        self.weight.map_or(Ok(()), |Number(weight)| write!(f, " ×{weight}"))?;
        self.depth_limit.map_or(Ok(()), |limit| write!(f, " to depth {limit}"))?;
        self.patterns.as_ref().map_or(Ok(()), |_| write!(f, " {}", self.patterns_as_text()))
    }
}
