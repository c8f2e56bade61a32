//! Optional parts of a `/solve` response, and their conflicts.

use taquin_bulk::fields::{FieldReader, reject_combination};
use taquin_solver::{Algorithm, Named, named};

use crate::http::media_type::MediaType;

/// Error for `progress` in a JSON response.
const NO_PROGRESS_IN_JSON: &str = "`progress` needs `Accept: text/plain`, or `Accept: text/event-stream` for \
                                   events; a JSON response is one document, written at the end of the search";

/// Optional parts of a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Include {
    States,
    Expansions,
    Generated,
    Iterations,
    Progress,
}

named!(Include {
    States => "states",
    Expansions => "expansions",
    Generated => "generated",
    Iterations => "iterations",
    Progress => "progress",
});

/// Reads `include`. Rejects values that the media type of the response does not support.
pub(super) fn included(fields: &mut FieldReader, media_type: Option<MediaType>) -> Vec<Include> {
    let include = fields.choices("include");
    if include.contains(&Include::Progress) && media_type == Some(MediaType::Json) {
        reject_combination(fields, "include", NO_PROGRESS_IN_JSON);
    }
    include
}

/// Rejects lists that an algorithm cannot record.
pub(super) fn check_lists(
    fields: &mut FieldReader,
    include: &[Include],
    algorithm: Algorithm,
    media_type: Option<MediaType>,
) {
    let name = algorithm.name();
    if include.contains(&Include::Generated) && !algorithm.has_open_list() {
        let instead = "use a best-first, breadth-first or depth-first search, or omit it";
        reject_combination(fields, "include", format!("`{name}` lists no `generated` nodes: {instead}"));
    } else if media_type == Some(MediaType::Dot) && !algorithm.has_open_list() {
        let instead = "use a best-first, breadth-first or depth-first search";
        reject_combination(fields, "algorithm", format!("`{name}` has no search tree to write in DOT: {instead}"));
    }
    if include.contains(&Include::Iterations) && !algorithm.has_iterations() {
        let instead = "use `ida_star` or `iterative_deepening`, or omit it";
        reject_combination(fields, "include", format!("`{name}` has no `iterations`: {instead}"));
    }
}

/// Rejects parts of a response that a picture does not show.
pub(super) fn check_picture(fields: &mut FieldReader, include: &[Include], has_solutions: bool) {
    let others = include.iter().filter(|include| **include != Include::Generated);
    let names: Vec<String> = others.map(|include| format!("`{}`", include.name())).collect();
    let mut reject = |name: &str, what: &str| {
        let detail = format!("a picture does not show {what}: use `Accept: application/json`, or omit it");
        reject_combination(fields, name, detail);
    };
    if !names.is_empty() {
        reject("include", &names.join(", "));
    }
    if has_solutions {
        reject("solutions", "several solutions");
    }
}

/// Rejects parts of a response that text with positions does not have: it has the states and nothing else.
pub(super) fn check_positions(fields: &mut FieldReader, include: &[Include], has_solutions: bool) {
    let others = include.iter().filter(|include| **include != Include::States);
    let names: Vec<String> = others.map(|include| format!("`{}`", include.name())).collect();
    let mut reject = |name: &str, what: &str| {
        let detail = format!("text with `output_encoding` `positions` has the states alone, not {what}: omit either");
        reject_combination(fields, name, detail);
    };
    if !names.is_empty() {
        reject("include", &names.join(", "));
    }
    if has_solutions {
        reject("solutions", "several solutions");
    }
    if !include.contains(&Include::States) {
        let detail = "text with `positions` lists the states: add `\"include\": [\"states\"]`, or use \
                      `Accept: application/json`";
        reject_combination(fields, "output_encoding", detail);
    }
}

/// Rejects parts of a response that have no meaning in the multi-tile metric.
pub(super) fn check_multi_tile(
    fields: &mut FieldReader,
    include: &[Include],
    has_solutions: bool,
    media_type: Option<MediaType>,
) {
    let conflicts = [
        ("include", !include.is_empty(), "`include` has no meaning, since its lists count single tiles"),
        ("solutions", has_solutions, "all optimal solutions cannot be listed"),
        ("metric", media_type == Some(MediaType::Events), "there are no events, since the search takes microseconds"),
        ("metric", media_type == Some(MediaType::Dot), "there is no search tree, since its nodes count single tiles"),
    ];
    for (field, _, reason) in conflicts.into_iter().filter(|(_, is_conflict, _)| *is_conflict) {
        let instead = if field == "metric" { "accept `application/json`" } else { "omit it" };
        let detail = format!("with the `metric` `multi_tile`, {reason}: {instead}, or omit `metric`");
        reject_combination(fields, field, detail);
    }
}
