//! Problems of requests for which no board can be drawn.

use std::ops::RangeInclusive;

use taquin_bulk::{FieldError, counted, sentence};
use taquin_solver::Size;

use crate::http::problem::{Problem, ProblemKind};
use crate::http::reply::service_failure;
use crate::service::{Draw, DrawError, ServiceError};

/// Returns the problem of a failed drawing, with the possible lengths.
pub(in crate::http::routes) fn draw_failure(error: &DrawError, how: &Draw) -> Problem {
    match error {
        DrawError::LengthsUnknown(size) => unsupported(how, &lengths_unknown(*size, how)),
        DrawError::TooRare(available) => unsupported(how, &too_rare(available, how)),
        DrawError::PercentilesUnknown => unsupported(
            how,
            "percentiles are known for boards of up to 12 cells, for 4×4 boards, and for 2×7, 2×8 and 3×5 boards with \
             the blank's goal in a corner; use `walk`, or omit `percentile`",
        ),
        DrawError::NoSuchLength(greatest) => {
            let wanted = wanted(how);
            let detail = format!(
                "no board has an optimal length {wanted}; for this size and goal, lengths range from 0 to {greatest}"
            );
            out_of_range(how, &detail)
        }
        DrawError::NoSuchPercentile(nearest) => out_of_range(
            how,
            &format!("no length has a percentile in this range; {nearest} is one, and /distances has the others"),
        ),
        DrawError::TooFew(exist) => {
            let meet = if *exist == 1 { "meets" } else { "meet" };
            too_many_distinct(&format!("only {} {meet} the request", counted(*exist, "different board")))
        }
        DrawError::Repeated { found, draws } => {
            too_many_distinct(&format!("{draws} draws found only {}", counted(*found as u64, "different board")))
        }
        DrawError::TimeUp => time_up(),
        DrawError::Cancelled => service_failure(&ServiceError::ShuttingDown),
        DrawError::Failed(error) => service_failure(error),
    }
}

fn lengths_unknown(size: Size, how: &Draw) -> String {
    let field = field(how);
    format!(
        "optimal lengths are known only for boards of up to 16 cells, not for {size} boards; use `walk`, or omit `{field}`"
    )
}

fn too_rare(available: &[RangeInclusive<u32>], how: &Draw) -> String {
    let (wanted, available) = (wanted(how), available.iter().map(listed).collect::<Vec<_>>().join(" and "));
    format!(
        "boards with an optimal length {wanted} cannot be found soon; for this size and goal, lengths {available} can be \
         drawn"
    )
}

fn too_many_distinct(reason: &str) -> Problem {
    out_of_range_of("count", &format!("{reason}: ask for no more, or omit `distinct`"))
}

fn time_up() -> Problem {
    let detail = "The default time limit ended the drawing before all boards were found. Ask for fewer boards, or for a \
                  wider range.";
    Problem::new(ProblemKind::SearchLimitExceeded, detail).with_member("limit", "time")
}

/// The field that determines the lengths.
fn field(how: &Draw) -> &'static str {
    if matches!(how, Draw::Percentile(_)) { "percentile" } else { "length" }
}

fn unsupported(how: &Draw, detail: &str) -> Problem {
    let error = FieldError::new(format!("/{}", field(how)), "unsupported", detail);
    Problem::new(ProblemKind::UnsupportedCombination, sentence(detail)).with_errors(vec![error])
}

fn out_of_range(how: &Draw, detail: &str) -> Problem {
    out_of_range_of(field(how), detail)
}

fn out_of_range_of(field: &str, detail: &str) -> Problem {
    let error = FieldError::new(format!("/{field}"), "out-of-range", detail);
    Problem::new(ProblemKind::InvalidParameter, sentence(detail)).with_errors(vec![error])
}

/// The requested lengths, such as "of 20" or "from 12 to 18".
fn wanted(how: &Draw) -> String {
    match how {
        Draw::Length(lengths) if lengths.start() < lengths.end() => listed(lengths),
        Draw::Length(lengths) => format!("of {}", lengths.start()),
        Draw::Percentile(_) | Draw::Uniform(_) | Draw::Walk(_) => "in this range".to_owned(),
    }
}

/// A range in words.
fn listed(lengths: &RangeInclusive<u32>) -> String {
    format!("from {} to {}", lengths.start(), lengths.end())
}
