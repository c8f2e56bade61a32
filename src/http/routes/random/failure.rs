//! Problems of requests for which no board can be drawn.

use std::ops::RangeInclusive;

use super::query::RandomQuery;
use crate::http::problem::{Problem, ProblemKind, RequestError, sentence};
use crate::http::reply::service_failure;
use crate::service::{Draw, DrawError, ServiceError};

/// Returns the problem of a failed drawing, with what can be had instead.
pub(super) fn draw_failure(error: &DrawError, query: &RandomQuery) -> Problem {
    match error {
        DrawError::LengthsUnknown(size) => unsupported(
            query,
            &format!(
                "optimal lengths are known only for boards of up to 16 cells, not for {size} boards; use `walk`, or \
                 omit `{}`",
                field(query)
            ),
        ),
        DrawError::TooRare(available) => unsupported(
            query,
            &format!(
                "boards with an optimal length {} cannot be found soon; for this size and goal, lengths {} can be \
                 drawn",
                wanted(query),
                available.iter().map(listed).collect::<Vec<_>>().join(" and ")
            ),
        ),
        DrawError::PercentilesUnknown => unsupported(
            query,
            "percentiles are known for boards of up to 12 cells, and for 4×4 boards with the blank's goal in a corner; \
             use `length` or `walk`, or omit `percentile`",
        ),
        DrawError::NoSuchLength(greatest) => out_of_range(
            query,
            &format!(
                "no board has an optimal length {}; for this size and goal, lengths range from 0 to {greatest}",
                wanted(query)
            ),
        ),
        DrawError::NoSuchPercentile(nearest) => out_of_range(
            query,
            &format!("no length has a percentile in this range; {nearest} is one, and /distances has the others"),
        ),
        DrawError::TimeUp => time_up(),
        DrawError::Cancelled => service_failure(&ServiceError::ShuttingDown),
        DrawError::Failed(error) => service_failure(error),
    }
}

fn time_up() -> Problem {
    let detail = "The default time limit ended the drawing before all boards were found. Ask for fewer boards, or for a \
                  wider range.";
    Problem::new(ProblemKind::SearchLimitExceeded, detail).with_member("limit", "time")
}

/// The field that determines the lengths.
fn field(query: &RandomQuery) -> &'static str {
    if matches!(query.how, Draw::Percentile(_)) { "percentile" } else { "length" }
}

fn unsupported(query: &RandomQuery, detail: &str) -> Problem {
    let error = RequestError::new(format!("/{}", field(query)), "unsupported", detail);
    Problem::new(ProblemKind::UnsupportedCombination, sentence(detail)).with_errors(vec![error])
}

fn out_of_range(query: &RandomQuery, detail: &str) -> Problem {
    let error = RequestError::new(format!("/{}", field(query)), "out-of-range", detail);
    Problem::new(ProblemKind::InvalidParameter, sentence(detail)).with_errors(vec![error])
}

/// The requested lengths, such as "of 20" or "from 12 to 18".
fn wanted(query: &RandomQuery) -> String {
    match &query.how {
        Draw::Length(lengths) if lengths.start() < lengths.end() => listed(lengths),
        Draw::Length(lengths) => format!("of {}", lengths.start()),
        Draw::Percentile(_) | Draw::Uniform(_) | Draw::Walk(_) => "in this range".to_owned(),
    }
}

/// A range in words.
fn listed(lengths: &RangeInclusive<u32>) -> String {
    format!("from {} to {}", lengths.start(), lengths.end())
}
