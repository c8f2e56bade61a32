//! `DELETE /jobs/{id}`: cancels a job that has not ended, and deletes one that has.

use std::sync::Arc;

use axum::extract::{Path, Request};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};

use super::blocking::blocking;
use super::caller::Caller;
use super::document;
use super::failure::{of_cancel, of_store};
use super::prefer::etag_of;
use crate::http::media_type::MediaType;
use crate::http::negotiation::{choose, is_known, is_matched};
use crate::http::problem::{Problem, ProblemKind};
use crate::http::request::{FieldReader, RequestFields, parse_query};
use crate::jobs::{Job, JobEngine, JobError, JobState, JobView};
use crate::search::{Named, named};

/// What alone a request may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Only {
    Cancel,
    Delete,
}

named!(Only { Cancel => "cancel", Delete => "delete" });

/// Handles DELETE.
pub(in crate::http::routes) async fn delete(
    caller: Caller,
    id: Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let headers = request.headers();
    choose(headers, &[MediaType::Json])?;
    let query = parse_query(request.uri().query().unwrap_or_default())?;
    let mut fields = FieldReader::new(RequestFields { query, body: None, get_target: None }, &["only"]);
    let only = fields.choice("only", None);
    fields.finish(Some(()))?;
    let job = caller.job(&id).await?;
    check_preconditions(headers, &caller.engine.view(&job))?;
    let (engine, own) = (Arc::clone(&caller.engine), Arc::clone(&job));
    let is_kept = blocking(move || end(&engine, &own, only)).await??;
    if is_kept {
        Ok(document(&caller, &job).response(&HeaderMap::new()))
    } else {
        Ok(StatusCode::NO_CONTENT.into_response())
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

/// Cancels or deletes a job. Returns true if it still exists. It blocks.
fn end(engine: &JobEngine, job: &Arc<Job>, only: Option<Only>) -> Result<bool, Problem> {
    let was_ended = job.state().is_ended();
    let failure = |error: JobError| if was_ended { of_store(&error) } else { of_cancel(&error) };
    match only {
        None => engine.cancel_or_delete(job).map_err(failure),
        Some(Only::Cancel) => {
            if !was_ended {
                engine.cancel(job).map_err(failure)?;
            }
            // It may have ended in another way at the same time.
            if job.state() == JobState::Cancelled { Ok(true) } else { Err(other_state(job, Only::Cancel)) }
        }
        Some(Only::Delete) if engine.has_ended(job).map_err(failure)? => {
            engine.delete(job).map(|()| false).map_err(failure)
        }
        Some(Only::Delete) => Err(other_state(job, Only::Delete)),
    }
}

fn other_state(job: &Job, only: Only) -> Problem {
    let needed = match only {
        Only::Cancel => "only a job that has not ended can be cancelled",
        Only::Delete => "only a job that has ended can be deleted",
    };
    let detail = format!("The job is {}, and {needed}. Nothing was changed.", job.state().name());
    Problem::new(ProblemKind::JobStateConflict, detail)
}
