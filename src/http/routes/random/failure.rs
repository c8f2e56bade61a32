//! Problems of requests for which no board can be drawn.

use taquin_bulk::fields::draw_error;
use taquin_bulk::{Draw, DrawError};

use crate::http::problem::{Problem, ProblemKind};
use crate::http::reply::service_failure;
use crate::service::ServiceError;

/// Returns the problem of a failed drawing, with the possible lengths.
pub(in crate::http::routes) fn draw_failure(error: &DrawError, how: &Draw) -> Problem {
    match (draw_error(error, how), error) {
        (Some(error), _) => error.into(),
        (None, DrawError::Failed(error)) => service_failure(&ServiceError::from(*error)),
        (None, DrawError::Cancelled) => service_failure(&ServiceError::ShuttingDown),
        (None, _) => time_up(),
    }
}

fn time_up() -> Problem {
    let detail = "The default time limit ended the drawing before all boards were found. Ask for fewer boards, or for a \
                  wider range.";
    Problem::new(ProblemKind::SearchLimitExceeded, detail).with_member("limit", "time")
}
