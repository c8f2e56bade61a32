//! `DELETE /jobs/{id}`: cancels a running job, or deletes an ended job.

use std::sync::Arc;

use axum::extract::{Path, Request};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use taquin_bulk::JobError;
use taquin_bulk::fields::FieldReader;
use taquin_solver::Named;

use super::caller::{Caller, blocking, no_job};
use super::document;
use super::failure::{of_cancel, of_store};
use super::prefer::etag_of;
use crate::http::media_type::MediaType;
use crate::http::negotiation::{choose, is_known, is_matched};
use crate::http::problem::{Problem, ProblemKind};
use crate::http::request::parse_query;
use crate::jobs::{Ended, Ending, Job, JobView};

/// `Retry-After` in seconds while another instance deletes the job.
const DELETION_RETRY: u64 = 5;

/// Handles DELETE.
pub(in crate::http::routes) async fn delete(
    caller: Caller,
    id: Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let headers = request.headers();
    choose(headers, &[MediaType::Json])?;
    let query = parse_query(request.uri().query().unwrap_or_default())?;
    let mut fields = FieldReader::new(query, None, &["only"]);
    let only = fields.choice("only", None);
    fields.finish(Some(()))?;
    let job = caller.job(&id).await?;
    check_preconditions(headers, &caller.engine.view(&job))?;
    let (engine, own) = (Arc::clone(&caller.engine), Arc::clone(&job));
    let was_ended = job.state().is_ended();
    let ended = blocking(move || engine.end(&own, only)).await?.map_err(|error| failure(&error, was_ended))?;
    match ended {
        Ended::Kept => Ok(document(&caller, &job).response(&HeaderMap::new())),
        Ended::Deleted => Ok(StatusCode::NO_CONTENT.into_response()),
        Ended::Gone => Err(no_job()),
        Ended::Refused(needed) => Err(other_state(&job, needed)),
    }
}

/// Checks `If-Match` and `If-None-Match` (RFC 9110, section 13.1).
fn check_preconditions(headers: &HeaderMap, view: &JobView) -> Result<(), Problem> {
    let etag = etag_of(view);
    if is_matched(headers, Some(&etag)) && !is_known(headers, &etag) {
        return Ok(());
    }
    let detail = "The condition of `If-Match` or `If-None-Match` is not met. The tag of a job is weak, so only `If-Match: *` is \
                  met. To cancel and never delete, or the other way round, use `only`.";
    Err(Problem::new(ProblemKind::PreconditionFailed, detail))
}

/// The problem of a job that cannot be ended.
fn failure(error: &JobError, was_ended: bool) -> Problem {
    if error.is_busy() {
        let detail = "Another instance is deleting the job. Retry after the number of seconds in `Retry-After`.";
        return Problem::new(ProblemKind::Overloaded, detail).with_retry_after(DELETION_RETRY);
    }
    if was_ended { of_store(error) } else { of_cancel(error) }
}

fn other_state(job: &Job, only: Ending) -> Problem {
    let needed = match only {
        Ending::Cancel => "only a job that has not ended can be cancelled",
        Ending::Delete => "only a job that has ended can be deleted",
    };
    let detail = format!("The job is {}, and {needed}. Nothing was changed.", job.state().name());
    Problem::new(ProblemKind::JobStateConflict, detail)
}
