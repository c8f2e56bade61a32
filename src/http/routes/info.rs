//! `/info`: features and limits of this server.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::json;
use taquin_bulk::fields::{MAX_MOVES, NamedGoal, Require};
use taquin_bulk::{Solvability, Want};
use taquin_solver::heuristic::GoalClass;
use taquin_solver::{
    Algorithm, DuplicateDetection, Encoding, HeuristicKind, Metric, MoveNotation, Named, Size, SuccessorOrder,
    TieBreaking,
};

use super::compare::Preset;
use super::openapi::with_service_desc;
use super::{compare, random, solve, verify};
use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, choose};
use crate::http::problem::Problem;
use crate::http::reply::StateOrder;
use crate::http::state::{AppState, JobsState, SharedState};
use crate::service::TableEntry;

/// Handles GET.
pub(crate) async fn info(State(state): State<AppState>, headers: HeaderMap) -> Result<Response, Problem> {
    let service = &state.service;
    let media_type = choose(&headers, &[MediaType::Json, MediaType::Text])?;
    let settings = service.settings();
    let info = json!({
        "name": "taquin",
        "version": env!("CARGO_PKG_VERSION"),
        "limits": limits(&state),
        "workers": settings.workers,
        "queue": settings.queue,
        "bulk_workers": settings.bulk.workers,
        "sides": {"min": Size::MIN_SIDE, "max": Size::MAX_SIDE},
        "algorithms": Algorithm::ALL.iter().map(|algorithm| algorithm_entry(*algorithm)).collect::<Vec<_>>(),
        "heuristics": HeuristicKind::ALL.iter().map(|heuristic| heuristic_entry(*heuristic)).collect::<Vec<_>>(),
        "options": options(),
        "goals": names::<NamedGoal>(),
        "presets": Preset::ALL.iter().map(|preset| preset.entry()).collect::<Vec<_>>(),
        "tables": service.tables().entries().iter().map(table_entry).collect::<Vec<_>>(),
    });
    let body = match media_type {
        MediaType::Text => format!("{info:#}\n"),
        _ => info.to_string(),
    };
    let document = Document::new(media_type.content_type(), Document::NO_STORE, body);
    Ok(with_service_desc(document.response(&headers)))
}

/// Values of the fields that have no entries of their own.
fn options() -> serde_json::Value {
    json!({
        "tie_breaking": names::<TieBreaking>(),
        "duplicate_detection": names::<DuplicateDetection>(),
        "successor_order": SuccessorOrder::all().map(SuccessorOrder::letters).collect::<Vec<_>>(),
        "require": names::<Require>(),
        "metric": names::<Metric>(),
        "include": names::<solve::Include>(),
        "order": names::<StateOrder>(),
        "encoding": names::<Encoding>(),
        "output_encoding": names::<Encoding>(),
        "verify_include": names::<verify::Include>(),
        "compare_include": names::<compare::Include>(),
        "notation": names::<MoveNotation>(),
        "as": names::<random::As>(),
        "solvable": names::<Solvability>(),
        "want": names::<Want>(),
    })
}

/// All values of a field.
fn names<C: Named>() -> Vec<&'static str> {
    C::ALL.iter().map(|value| value.name()).collect()
}

fn limits(SharedState { service, settings: http, jobs, .. }: &SharedState) -> serde_json::Value {
    let settings = service.settings();
    // Boards of up to 16 cells have the smallest nodes; on larger ones, and with patterns, fewer fit.
    let max_nodes = |size| service.max_nodes(size, Algorithm::AStar, HeuristicKind::Manhattan);
    let max_nodes = Size::try_from((4, 4)).map_or(0, max_nodes);
    let mut limits = json!({
        "time_ms": {"default": settings.default_time.as_millis() as u64, "max": settings.max_time.as_millis() as u64},
        "expanded": {"default": settings.max_expanded, "max": settings.max_expanded},
        "nodes": {"default": max_nodes, "max": max_nodes},
        "search_memory_bytes": settings.search_memory,
        "expansions": settings.max_expansions,
        "body_bytes": http.max_body,
        "batch_boards": http.batch.boards,
        "batch_bytes": http.batch.bytes,
        "moves": MAX_MOVES,
        "methods": compare::MAX_METHODS,
        "boards": compare::MAX_BOARDS,
        "solutions": solve::MAX_SOLUTIONS,
    });
    if let Some(JobsState { engine, .. }) = jobs {
        let settings = engine.settings();
        limits["jobs"] = json!({
            "unfinished": settings.max_unfinished,
            "boards": settings.max_boards,
            "body_bytes": settings.max_body,
            "keep_seconds": settings.keep.as_secs(),
        });
    }
    limits
}

fn table_entry(table: &TableEntry) -> serde_json::Value {
    let build_ms = table.build_time.map(|time| (time.as_secs_f64() * 1e6).round() / 1e3);
    json!({"name": table.name, "size": table.size, "bytes": table.bytes, "build_ms": build_ms})
}

fn algorithm_entry(algorithm: Algorithm) -> serde_json::Value {
    let description = match algorithm {
        Algorithm::AStar => "Expands the node with the least g + h.",
        Algorithm::WeightedAStar => {
            "Expands the node with the least g + weight·h; the length is at most weight times the optimum."
        }
        Algorithm::GreedyBestFirst => "Expands the node with the least h.",
        Algorithm::IdaStar => "Depth-first within a rising limit on g + h; needs no memory for nodes.",
        Algorithm::BreadthFirst => "Expands the oldest node.",
        Algorithm::DepthFirst => "Expands the newest node, within depth_limit if one is given.",
        Algorithm::IterativeDeepening => "Depth-first within a rising depth limit; needs no memory for nodes.",
        Algorithm::Constructive => {
            "Solves row by row and column by column; solves any board in milliseconds, not optimally."
        }
        Algorithm::Anytime => "A solution at once, then shorter ones until a limit or a proof of optimality.",
    };
    json!({
        "name": algorithm.name(),
        "optimal": algorithm.is_optimal(),
        "takes_heuristic": algorithm.takes_heuristic(),
        "description": description,
    })
}

fn heuristic_entry(heuristic: HeuristicKind) -> serde_json::Value {
    let description = match heuristic {
        HeuristicKind::Zero => "No estimate.",
        HeuristicKind::Hamming => "Tiles out of place.",
        HeuristicKind::MisplacedWithBlank => "Tiles out of place, the blank included; not admissible.",
        HeuristicKind::Manhattan => "The rows and columns between each tile and its goal cell, summed over all tiles.",
        HeuristicKind::ManhattanPlusHamming => "The sum of manhattan and hamming; not admissible.",
        HeuristicKind::Gaschnig => "Moves of the relaxed puzzle in which any tile may jump into the blank.",
        HeuristicKind::InversionDistance => {
            "The fewest moves that undo the inversions in row order and in column order."
        }
        HeuristicKind::LinearConflict => "Manhattan, plus two for each tile that must leave its line.",
        HeuristicKind::WalkingDistance => {
            "The fewest moves that bring all tiles into their rows, plus the fewest into their columns."
        }
        HeuristicKind::PatternDatabase => {
            "Exact distances up to 9 cells; on larger boards the sum over disjoint sets of tiles."
        }
    };
    let (boards, max_cells) = match heuristic {
        HeuristicKind::WalkingDistance => ("sides up to 4, and 2×5", Some(16)),
        HeuristicKind::PatternDatabase => ("up to 36 cells", Some(GoalClass::MAX_CELLS)),
        _ => ("all", None),
    };
    json!({
        "name": heuristic.name(),
        "admissible": heuristic.is_admissible(),
        "consistent": heuristic.is_consistent(),
        "boards": boards,
        "max_cells": max_cells,
        "description": description,
    })
}
