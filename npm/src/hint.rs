//! `hint`: the next move.

use serde_json::{Value, json};
use taquin_bulk::fields::{BOARD_FIELDS, FieldReader, LIMIT_FIELDS, board_and_goal, concat, limits, moves, puzzle};
use taquin_solver::{Limits, MoveNotation, Observer, Path, Plan, Puzzle, Trail, solver};

use crate::problem::Problem;
use crate::reply;
use crate::solve::{limits_of, no_result, search};

/// The fields of a request.
pub(crate) const FIELDS: [&str; BOARD_FIELDS.len() + LIMIT_FIELDS.len() + 1] =
    concat(&[&BOARD_FIELDS, &LIMIT_FIELDS, &["trail"]]);

/// Returns the next move. A trail, the solution of an earlier hint, replaces the search of a large board, and a solution
/// that is not shorter.
pub(crate) fn hint(mut fields: FieldReader, observer: Option<&dyn Observer>) -> Result<Value, Problem> {
    let boards = board_and_goal(&mut fields);
    let requested = limits(&mut fields);
    let trail = moves(&mut fields, "trail", MoveNotation::Blank).map(Path::from);
    let read_as = fields.read_as();
    let (board, goal) = fields.finish(boards)?;
    let puzzle = puzzle(board, goal)?;
    let plan = Plan::auto(puzzle.size());
    let trail = trail.and_then(|path| Trail::of(&puzzle, &path));
    let followed = trail.as_ref().filter(|trail| plan.uses_all_time() && trail.is_followed);
    if let Some(Trail { path, .. }) = followed {
        let limits = limits_of(&puzzle, &plan, requested);
        let reply = reply(&puzzle, path, solver::lower_bound(&puzzle));
        return Ok(reply::response(with(reply, Value::Null, limits), read_as));
    }
    let (report, limits) = search(puzzle, plan, requested, observer)?;
    if let Some(stop) = report.stopped {
        return Err(Problem::stopped(limits, &report, stop));
    }
    let found = &report.solution.as_ref().ok_or_else(no_result)?.path;
    let trail = trail.as_ref().map(|trail| &trail.path).filter(|path| path.len() <= found.len());
    let reply = reply(&puzzle, trail.unwrap_or(found), report.lower_bound);
    Ok(reply::response(with(reply, reply::search(&report), limits), read_as))
}

fn with(mut reply: reply::Members, search: Value, limits: Limits) -> reply::Members {
    reply.insert("search".to_owned(), search);
    reply.insert("limits".to_owned(), reply::limits(limits));
    reply
}

fn reply(puzzle: &Puzzle, path: &Path, lower_bound: u32) -> reply::Members {
    let (length, mut board) = (path.len(), *puzzle.start());
    let step = path.moves().first().and_then(|mv| Some((*mv, board.make(*mv)?)));
    reply::members(json!({
        "move": step.map(|(mv, _)| mv.letter()),
        "tile": step.map(|(_, tile)| tile),
        "length": length,
        "optimal": length == lower_bound as usize,
        "lower_bound": lower_bound,
        "remaining": length.saturating_sub(1),
        "start": reply::rows(puzzle.start()),
        "goal": reply::rows(puzzle.goal()),
        "board": reply::rows(&board),
        "trail": path.letters(),
    }))
}
