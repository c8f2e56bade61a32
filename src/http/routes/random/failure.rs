//! Problems of requests for which no board can be drawn.

use std::ops::RangeInclusive;

use taquin_bulk::{Draw, DrawError, FieldError, sentence};

use crate::http::problem::{Problem, ProblemKind};
use crate::http::reply::service_failure;
use crate::service::ServiceError;

/// Returns the problem of a failed drawing, with the possible lengths.
pub(in crate::http::routes) fn draw_failure(error: &DrawError, how: &Draw) -> Problem {
    match error {
        DrawError::EmptyRange => out_of_range(how, &error.to_string()),
        DrawError::LengthsUnknown(_) | DrawError::PercentilesUnknown => {
            unsupported(how, &format!("{error}; use `walk`, or omit `{}`", field(how)))
        }
        DrawError::TooRare(available) => unsupported(how, &too_rare(available, how)),
        DrawError::NoSuchLength(greatest) => {
            let wanted = wanted(how);
            let detail = format!(
                "no board has an optimal length {wanted}; for this size and goal, lengths range from 0 to {greatest}"
            );
            out_of_range(how, &detail)
        }
        DrawError::NoSuchPercentile(_) => out_of_range(how, &format!("{error}, and /distances has the others")),
        DrawError::TooFew(_) | DrawError::Repeated { .. } => {
            out_of_range_of("count", &format!("{error}: ask for no more, or omit `distinct`"))
        }
        DrawError::TimeUp => time_up(),
        DrawError::Cancelled => service_failure(&ServiceError::ShuttingDown),
        DrawError::Failed(error) => service_failure(&ServiceError::from(*error)),
    }
}

fn too_rare(available: &[RangeInclusive<u32>], how: &Draw) -> String {
    let (wanted, available) = (wanted(how), available.iter().map(listed).collect::<Vec<_>>().join(" and "));
    format!(
        "boards with an optimal length {wanted} cannot be found soon; for this size and goal, lengths {available} can be \
         drawn"
    )
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
