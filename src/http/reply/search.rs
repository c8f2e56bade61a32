//! Counters and limits of a search.

use std::fmt;

use taquin_solver::heuristic::{PatternUse, Tier};
use taquin_solver::{Limits, Named, Tile};

use crate::service::Report;

/// Algorithm, heuristic and counters of a search.
#[derive(Debug, serde::Serialize)]
pub(crate) struct SearchReply {
    pub(crate) algorithm: &'static str,
    pub(crate) heuristic: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tables: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) patterns: Vec<PatternReply>,
    pub(crate) admissible: bool,
    pub(crate) expanded: u64,
    pub(crate) generated: u64,
    pub(crate) duplicates: u64,
    pub(crate) reopened: u64,
    pub(crate) peak_open: u64,
    pub(crate) open_at_end: u64,
    pub(crate) nodes_held: u64,
    pub(crate) iterations: u32,
    pub(crate) initial_h: u32,
    pub(crate) effective_branching_factor: Option<f64>,
    pub(crate) elapsed_us: u64,
}

/// The table of a pattern that the request chose, and its entry for the board.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct PatternReply {
    tiles: Vec<Tile>,
    entries: u64,
    bytes: u64,
    cost: u32,
}

/// A line of text.
impl fmt::Display for PatternReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tiles, entries, bytes, cost } = self;
        let tiles: Vec<String> = tiles.iter().map(Tile::to_string).collect();
        write!(f, "table of {}: {entries} entries, {bytes} bytes, cost {cost}", tiles.join(" "))
    }
}

impl PatternReply {
    pub(crate) fn new(table: &PatternUse) -> Self {
        let PatternUse { tiles, entries, bytes, cost } = table;
        Self { tiles: tiles.clone(), entries: *entries, bytes: *bytes, cost: *cost }
    }
}

/// The limits of a search.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(crate) struct LimitsReply {
    pub(crate) time_ms: u64,
    pub(crate) expanded: u64,
    pub(crate) nodes: u64,
}

/// Progress of a running search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
pub(crate) struct ProgressReply {
    pub(crate) expanded: u64,
    pub(crate) generated: u64,
    pub(crate) lower_bound: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) threshold: Option<u32>,
    /// Length of the shortest solution so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) length: Option<usize>,
    pub(crate) elapsed_us: u64,
}

impl SearchReply {
    pub(crate) fn new(report: &Report) -> Self {
        let stats = report.stats;
        Self {
            algorithm: report.algorithm.name(),
            heuristic: report.algorithm.takes_heuristic().then(|| report.heuristic.name()),
            tables: report.tables.map(Tier::name),
            patterns: report.patterns.iter().map(PatternReply::new).collect(),
            admissible: report.heuristic.is_admissible(),
            expanded: stats.expanded,
            generated: stats.generated,
            duplicates: stats.duplicates,
            reopened: stats.reopened,
            peak_open: stats.peak_open,
            open_at_end: stats.open_at_end,
            nodes_held: stats.nodes_held,
            iterations: stats.iterations,
            initial_h: stats.initial_h,
            effective_branching_factor: report.effective_branching_factor(),
            elapsed_us: report.elapsed.as_micros() as u64,
        }
    }
}

impl LimitsReply {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { time_ms: limits.time.as_millis() as u64, expanded: limits.expanded, nodes: limits.nodes }
    }
}

impl SearchReply {
    /// Algorithm, heuristic, and node counts.
    pub(super) fn figures(&self) -> impl fmt::Display {
        let with = self.heuristic.map_or_else(String::new, |heuristic| format!(" with {heuristic}"));
        let Self { algorithm, expanded, generated, .. } = *self;
        fmt::from_fn(move |f| write!(f, "{algorithm}{with}: {expanded} expanded, {generated} generated"))
    }
}

impl fmt::Display for SearchReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}, {} µs", self.figures(), self.elapsed_us)
    }
}
