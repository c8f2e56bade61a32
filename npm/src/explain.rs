//! `explain`: the estimates of a board by every heuristic, part by part.

use serde_json::{Value, json};
use taquin_bulk::fields::{BOARD_FIELDS, FieldReader, board_and_goal, concat, puzzle, tile_patterns};
use taquin_solver::heuristic::Line;
use taquin_solver::solver::{self, Conflict, Estimate, NamedPart, PatternExplanation, explain_patterns};
use taquin_solver::{Control, Explanation, Named};

use crate::problem::Problem;
use crate::reply;
use crate::tables::{self, TABLES};

/// The fields of a request.
pub(crate) const FIELDS: [&str; BOARD_FIELDS.len() + 1] = concat(&[&BOARD_FIELDS, &["patterns"]]);

/// Explains the estimates of a board. The pattern tables are built first.
pub(crate) fn explain(mut fields: FieldReader) -> Result<Value, Problem> {
    let boards = board_and_goal(&mut fields);
    let patterns = tile_patterns(&mut fields, boards.map(|(board, _)| board.size()));
    let read_as = fields.read_as();
    let (board, goal) = fields.finish(boards)?;
    let puzzle = puzzle(board, goal)?;
    tables::load(&puzzle);
    let Explanation { optimal_length, estimates } = solver::explain(&puzzle, &*TABLES);
    let mut reply = reply::members(json!({
        "start": reply::rows(puzzle.start()),
        "goal": reply::rows(puzzle.goal()),
        "optimal_length": optimal_length,
        "heuristics": estimates.iter().map(|estimate| estimate_json(estimate, optimal_length)).collect::<Value>(),
    }));
    if let Some(patterns) = patterns {
        let built = explain_patterns(&puzzle, &patterns, Control::default());
        let stopped = |stop| Problem::limit_exceeded(stop, "The tables of the patterns were not built.");
        let PatternExplanation { estimate, tables } = built.map_err(stopped)?;
        let tables: Value = tables.iter().map(reply::pattern).collect();
        let patterns = json!({"estimate": estimate_json(&estimate, optimal_length), "tables": tables});
        reply.insert("patterns".to_owned(), patterns);
    }
    Ok(reply::response(reply, read_as))
}

fn estimate_json(estimate: &Estimate, optimal_length: Option<u32>) -> Value {
    let Estimate { heuristic, h, tiles, conflicts, parts } = estimate;
    json!({
        "name": heuristic.name(),
        "h": h,
        "admissible": heuristic.is_admissible(),
        "overestimates": optimal_length.map(|length| *h > length),
        "tiles": tiles.iter().map(|(tile, cost)| json!({"tile": tile, "cost": cost})).collect::<Value>(),
        "conflicts": conflicts.iter().map(conflict).collect::<Value>(),
        "parts": parts.iter().map(part).collect::<Value>(),
    })
}

fn conflict(Conflict { line, tiles, leaving, cost }: &Conflict) -> Value {
    let line = match line {
        Line::Row(row) => format!("row {}", row + 1),
        Line::Col(col) => format!("column {}", col + 1),
    };
    json!({"line": line, "tiles": tiles, "leaving": leaving, "cost": cost})
}

fn part(NamedPart { name, tiles, cost }: &NamedPart) -> Value {
    match tiles.is_empty() {
        true => json!({"name": name, "cost": cost}),
        false => json!({"name": name, "tiles": tiles, "cost": cost}),
    }
}
