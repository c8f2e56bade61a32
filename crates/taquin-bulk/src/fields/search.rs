//! The search options of a request.

use taquin_solver::heuristic::{PatternFault, PatternReason, TilePatterns};
use taquin_solver::{Plan, PlanConflict, SearchOptions, Size, SuccessorOrder, Weight, named};

use super::FieldReader;
use crate::row_error::{ErrorKind, FieldError};

/// The fields of the search options.
pub const METHOD_FIELDS: [&str; 8] = [
    "algorithm",
    "heuristic",
    "weight",
    "tie_breaking",
    "duplicate_detection",
    "successor_order",
    "depth_limit",
    "patterns",
];

/// Maximum depth limit of depth-first search. No board of nine cells has a longer simple path.
const MAX_DEPTH_LIMIT: i64 = 1_000_000;

/// Required quality of a solution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Require {
    /// Any solution.
    Any,
    /// A solution that is proven optimal.
    Optimal,
}

named!(Require { Any => "any", Optimal => "optimal" });

/// Adds the error of a field that conflicts with other fields, or has no effect beside them.
pub fn reject_combination(fields: &mut FieldReader, name: &str, detail: impl Into<String>) {
    let error = FieldError::new(format!("/{name}"), "unsupported", detail);
    fields.report(ErrorKind::UnsupportedCombination, error);
}

/// Reads [`METHOD_FIELDS`]. `size` is the size of the boards; `None` if the size is unknown.
pub fn search_options(fields: &mut FieldReader, size: Option<Size>) -> SearchOptions {
    SearchOptions {
        algorithm: fields.choice("algorithm", Some("auto")),
        heuristic: fields.choice("heuristic", Some("auto")),
        weight: fields
            .hundredths("weight", Weight::ONE.hundredths()..=Weight::MAX.hundredths())
            .and_then(Weight::from_hundredths)
            .unwrap_or(Weight::ONE),
        tie_breaking: fields.choice("tie_breaking", None).unwrap_or_default(),
        duplicate_detection: fields.choice("duplicate_detection", None).unwrap_or_default(),
        successor_order: fields.parsed("successor_order", successor_order).unwrap_or_default(),
        depth_limit: fields.integer("depth_limit", 0..=MAX_DEPTH_LIMIT).map(|limit| limit as u32),
        patterns: tile_patterns(fields, size),
        ..SearchOptions::default()
    }
}

/// Reads `patterns`, a list of disjoint sets of tiles. `size` is the size of the boards. Returns `None` if the field is
/// absent or has an error, or if `size` is `None`.
pub fn tile_patterns(fields: &mut FieldReader, size: Option<Size>) -> Option<TilePatterns> {
    let (value, lists) = fields.integer_lists("patterns")?;
    let faults = match TilePatterns::try_new(size?, &lists) {
        Ok(patterns) => return Some(patterns),
        Err(faults) => faults,
    };
    for PatternFault { pattern, at, reason } in faults {
        let detail = format!("`patterns`: {reason}");
        let code = match reason {
            PatternReason::LargeBoard(_) => {
                reject_combination(fields, "patterns", detail);
                continue;
            }
            PatternReason::Blank | PatternReason::NotOnBoard(..) => "tile-out-of-range",
            PatternReason::Twice(_) => "duplicate-tile",
            _ => "out-of-range",
        };
        let place = pattern.into_iter().chain(at).map(|index| format!(".{index}"));
        fields.reject(&value, &format!("patterns{}", place.collect::<String>()), code, detail);
    }
    None
}

fn successor_order(letters: &str) -> Result<SuccessorOrder, (&'static str, String)> {
    SuccessorOrder::from_letters(letters).ok_or_else(|| {
        let detail = "`successor_order` must have each of the letters U, L, D and R once, for example `LRUD`: the \
                      directions of the blank";
        ("unknown-value", detail.to_owned())
    })
}

/// Creates the plan for search options. If options conflict, adds the conflicts to the errors of `fields`, and returns
/// `None`.
pub fn search_plan(fields: &mut FieldReader, options: &SearchOptions, size: Size) -> Option<Plan> {
    let note = |conflict: PlanConflict| reject_combination(fields, conflict.field, conflict.detail);
    Plan::try_new(options, size).map_err(|conflicts| conflicts.into_iter().for_each(note)).ok()
}
