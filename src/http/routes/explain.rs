//! `/explain`: the estimates of a board by every heuristic, part by part.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use taquin_bulk::counted;
use taquin_bulk::fields::{BOARD_FIELDS, board_and_goal, concat, puzzle, tile_patterns};
use taquin_solver::heuristic::{GoalClass, Line};
use taquin_solver::solver::{Conflict, Estimate, NamedPart, PatternExplanation};
use taquin_solver::{Board, Explanation, Named, Puzzle, StopReason, Tile};

use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, choose};
use crate::http::problem::{Problem, ProblemKind};
use crate::http::reply::{PatternReply, Rows, grid, limit_name, service_failure, text_or_json};
use crate::http::request::RequestFields;
use crate::service::{Service, ServiceError};

#[derive(Debug, serde::Serialize)]
struct ExplainReply {
    start: Rows,
    goal: Rows,
    optimal_length: Option<u32>,
    heuristics: Vec<EstimateReply>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patterns: Option<PatternsReply>,
}

/// The estimate by the patterns that the request chose, and their tables.
#[derive(Debug, serde::Serialize)]
struct PatternsReply {
    estimate: EstimateReply,
    tables: Vec<PatternReply>,
}

#[derive(Debug, serde::Serialize)]
struct EstimateReply {
    name: &'static str,
    h: u32,
    admissible: bool,
    overestimates: Option<bool>,
    tiles: Vec<TileReply>,
    conflicts: Vec<ConflictReply>,
    parts: Vec<PartReply>,
}

#[derive(Clone, Copy, Debug, serde::Serialize)]
struct TileReply {
    tile: Tile,
    cost: u32,
}

#[derive(Debug, serde::Serialize)]
struct ConflictReply {
    line: String,
    tiles: Vec<Tile>,
    leaving: Vec<Tile>,
    cost: u32,
}

#[derive(Debug, serde::Serialize)]
struct PartReply {
    name: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tiles: Vec<Tile>,
    cost: u32,
}

const FIELDS: [&str; BOARD_FIELDS.len() + 1] = concat(&[&BOARD_FIELDS, &["patterns"]]);

/// The problem of tables that were not built.
fn not_built(stop: StopReason) -> Problem {
    if stop == StopReason::Cancelled {
        return service_failure(&ServiceError::ShuttingDown);
    }
    let detail = "The tables of the patterns were not built within the time limit. Use smaller patterns.";
    Problem::new(ProblemKind::SearchLimitExceeded, detail).with_member("limit", limit_name(stop))
}

/// Handles GET and POST.
pub(crate) async fn explain(
    State(service): State<Arc<Service>>,
    method: Method,
    headers: HeaderMap,
    input: RequestFields,
) -> Result<Response, Problem> {
    let media_type = choose(&headers, &[MediaType::Json, MediaType::Text])?;
    let mut fields = input.reader(&FIELDS);
    let boards = board_and_goal(&mut fields);
    let patterns = tile_patterns(&mut fields, boards.map(|(board, _)| board.size()));
    let read_as = fields.read_as();
    let (board, goal) = fields.finish(boards)?;
    let puzzle = puzzle(board, goal)?;
    let explanation = service.explain(puzzle).await.map_err(|error| service_failure(&error))?;
    let mut reply = ExplainReply::new(&puzzle, explanation);
    if let Some(patterns) = patterns {
        let explanation = service.explain_patterns(puzzle, patterns).await.map_err(|error| service_failure(&error))?;
        reply.add_patterns(explanation.map_err(not_built)?);
    }
    let body = text_or_json(media_type, &reply, read_as.as_deref());
    // Estimates by pattern databases depend on the loaded tables.
    let is_repeatable = !GoalClass::serves(puzzle.size());
    let cache_control = if is_repeatable { Document::AN_HOUR } else { Document::NO_STORE };
    let document = Document::new(media_type.content_type(), cache_control, body);
    Ok(document.response_to(&method, &headers))
}

impl ExplainReply {
    fn new(puzzle: &Puzzle, explanation: Explanation) -> Self {
        let Explanation { optimal_length, estimates } = explanation;
        let heuristics = estimates.into_iter().map(|estimate| EstimateReply::new(estimate, optimal_length)).collect();
        Self { start: Rows(*puzzle.start()), goal: Rows(*puzzle.goal()), optimal_length, heuristics, patterns: None }
    }

    fn add_patterns(&mut self, PatternExplanation { estimate, tables }: PatternExplanation) {
        let estimate = EstimateReply::new(estimate, self.optimal_length);
        self.patterns = Some(PatternsReply { estimate, tables: tables.iter().map(PatternReply::new).collect() });
    }
}

impl EstimateReply {
    fn new(estimate: Estimate, optimal_length: Option<u32>) -> Self {
        let Estimate { heuristic, h, tiles, conflicts, parts } = estimate;
        Self {
            name: heuristic.name(),
            h,
            admissible: heuristic.is_admissible(),
            overestimates: optimal_length.map(|length| h > length),
            tiles: tiles.into_iter().map(|(tile, cost)| TileReply { tile, cost }).collect(),
            conflicts: conflicts.into_iter().map(ConflictReply::from).collect(),
            parts: parts.into_iter().map(|NamedPart { name, tiles, cost }| PartReply { name, tiles, cost }).collect(),
        }
    }
}

impl From<Conflict> for ConflictReply {
    fn from(conflict: Conflict) -> Self {
        let Conflict { line, tiles, leaving, cost } = conflict;
        let line = match line {
            Line::Row(row) => format!("row {}", row + 1),
            Line::Col(col) => format!("column {}", col + 1),
        };
        Self { line, tiles, leaving, cost }
    }
}

/// Text for a terminal: a table for each heuristic.
impl fmt::Display for ExplainReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", grid(&self.start.0))?;
        match self.optimal_length {
            Some(length) => writeln!(f, "Optimal length: {}.", counted(length, "move"))?,
            None => writeln!(f, "The optimal length takes a search; see /solve.")?,
        }
        self.heuristics.iter().try_for_each(|estimate| estimate.write(f, &self.start.0))?;
        let Some(PatternsReply { estimate, tables }) = &self.patterns else { return Ok(()) };
        writeln!(f, "\nWith the patterns of the request:")?;
        estimate.write(f, &self.start.0)?;
        tables.iter().try_for_each(|table| writeln!(f, "  {table}"))
    }
}

impl EstimateReply {
    /// Writes the name and h, the cost of each tile in its cell, and the other parts.
    fn write(&self, f: &mut fmt::Formatter<'_>, board: &Board) -> fmt::Result {
        let admissible = if self.admissible { "" } else { ", not admissible" };
        let overestimates = if self.overestimates == Some(true) { ", too high here" } else { "" };
        writeln!(f, "\n{}: {}{admissible}{overestimates}", self.name, self.h)?;
        self.write_tiles(f, board)?;
        for ConflictReply { line, tiles, leaving, cost } in &self.conflicts {
            writeln!(f, "  {line}: {}; leaving: {}  {cost}", listed(tiles), listed(leaving))?;
        }
        for PartReply { name, tiles, cost } in &self.parts {
            let tiles = if tiles.is_empty() { String::new() } else { format!(" {}", listed(tiles)) };
            writeln!(f, "  {name}{tiles}  {cost}")?;
        }
        Ok(())
    }

    fn write_tiles(&self, f: &mut fmt::Formatter<'_>, board: &Board) -> fmt::Result {
        let costs: BTreeMap<Tile, u32> = self.tiles.iter().map(|TileReply { tile, cost }| (*tile, *cost)).collect();
        let Some(most) = costs.values().max() else { return Ok(()) };
        let width = most.to_string().len();
        for row in board.rows() {
            let cells = row.iter().map(|tile| {
                let cost = costs.get(tile).map_or_else(|| ".".to_owned(), u32::to_string);
                format!("{cost:>width$}")
            });
            writeln!(f, "  {}", cells.collect::<Vec<_>>().join(" "))?;
        }
        Ok(())
    }
}

/// Tiles, separated by spaces.
fn listed(tiles: &[Tile]) -> String {
    tiles.iter().map(Tile::to_string).collect::<Vec<_>>().join(" ")
}
