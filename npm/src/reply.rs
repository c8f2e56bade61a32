//! Values as JSON, with the names of the HTTP API.

use serde_json::{Map, Value, json};
use taquin_solver::heuristic::{PatternUse, Tier};
use taquin_solver::{Board, Distance, Limits, Named, Path, Report, Solution};

/// The members of an object.
pub(crate) type Members = Map<String, Value>;

/// Returns the members of a value of `json!` that is an object.
pub(crate) fn members(object: Value) -> Members {
    match object {
        Value::Object(members) => members,
        other => unreachable!("{other} is an object"),
    }
}

/// The response with these members, and the way in which the board was read if its notation is not documented.
pub(crate) fn response(mut members: Members, read_as: Option<String>) -> Value {
    if let Some(read_as) = read_as {
        members.insert("read_as".to_owned(), read_as.into());
    }
    members.into()
}

/// The rows of a board.
pub(crate) fn rows(board: &Board) -> Value {
    board.rows().map(Value::from).collect()
}

/// Length, bound and moves of a solution, in every notation.
pub(crate) fn solution(report: &Report, Solution { path, tiles }: &Solution) -> Members {
    members(json!({
        "length": path.length(report.metric),
        "optimal": report.is_optimal(),
        "lower_bound": report.lower_bound,
        "moves": path.letters(),
        "tiles": tiles,
        "lengths": lengths(path),
        "alg": path.alg(),
        "scramble": path.scramble(),
    }))
}

/// The length of a path in both metrics.
pub(crate) fn lengths(path: &Path) -> Value {
    json!({"single_tile": path.len(), "multi_tile": path.multi_tile_length()})
}

/// Algorithm, heuristic and counters of a search.
pub(crate) fn search(report: &Report) -> Value {
    let stats = report.stats;
    let mut search = members(json!({
        "algorithm": report.algorithm.name(),
        "heuristic": report.algorithm.takes_heuristic().then(|| report.heuristic.name()),
        "admissible": report.heuristic.is_admissible(),
        "expanded": stats.expanded,
        "generated": stats.generated,
        "duplicates": stats.duplicates,
        "reopened": stats.reopened,
        "peak_open": stats.peak_open,
        "open_at_end": stats.open_at_end,
        "nodes_held": stats.nodes_held,
        "iterations": stats.iterations,
        "initial_h": stats.initial_h,
        "effective_branching_factor": report.effective_branching_factor(),
        "elapsed_us": report.elapsed.as_micros() as u64,
    }));
    if let Some(tier) = report.tables.map(Tier::name) {
        search.insert("tables".to_owned(), tier.into());
    }
    if !report.patterns.is_empty() {
        search.insert("patterns".to_owned(), report.patterns.iter().map(pattern).collect());
    }
    Value::Object(search)
}

/// The table of a pattern that the request chose, and its entry for the board.
pub(crate) fn pattern(PatternUse { tiles, entries, bytes, cost }: &PatternUse) -> Value {
    json!({"tiles": tiles, "entries": entries, "bytes": bytes, "cost": cost})
}

/// The limits of a search; null for none.
pub(crate) fn limits(Limits { time, expanded, nodes }: Limits) -> Value {
    let none_if_endless = |limit: u64| (limit != u64::MAX).then_some(limit);
    json!({
        "time_ms": none_if_endless(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
        "expanded": none_if_endless(expanded),
        "nodes": nodes,
    })
}

/// The distance of a board; null if the goal cannot be reached.
pub(crate) fn distance(distance: Option<Distance>) -> Value {
    json!({
        "lower_bound": distance.map(|distance| distance.lower_bound),
        "upper_bound": distance.map(|distance| distance.upper_bound),
        "optimal_length": distance.and_then(|distance| distance.length),
    })
}
