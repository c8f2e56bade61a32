//! The owner of the jobs of a request, the idempotency key, and calls that block.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use taquin_bulk::JobError;
use tokio::sync::Semaphore;
use tracing::Span;

use super::failure::{of_damage, of_store};
use crate::http::guard::token_digest;
use crate::http::negotiation::is_matched;
use crate::http::problem::{Problem, ProblemKind};
use crate::http::state::AppState;
use crate::jobs::{Job, JobEngine, JobOwner};
use crate::service::ReplyOwner;

/// The engine, and the owner of the jobs of a request: a token, or everybody if no tokens are required.
pub(in crate::http::routes) struct Caller {
    pub(super) engine: Arc<JobEngine>,
    pub(super) owner: JobOwner,
    /// The token, as a digest.
    pub(super) token: Option<ReplyOwner>,
    /// Limits the responses that are computed from files of jobs at a time, so that searches keep processors.
    pub(super) readers: Arc<Semaphore>,
}

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const MAX_KEY: usize = 255;

impl FromRequestParts<AppState> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(head: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let jobs = state.jobs.as_ref().ok_or_else(|| {
            let detail = "Jobs are turned off on this server; the operator turns them on with `--jobs DIRECTORY`. Send the \
                          boards to `/batch`, or use the command `taquin batch`.";
            Problem::new(ProblemKind::NotFound, detail)
        })?;
        let token = token_digest(&head.headers).filter(|_| jobs.has_tokens);
        let owner = token.map(JobOwner::of_token).unwrap_or_default();
        Ok(Self { engine: Arc::clone(&jobs.engine), owner, token, readers: Arc::clone(&jobs.readers) })
    }
}

impl Caller {
    /// The job of this id.
    ///
    /// # Errors
    /// `not-found`, also for jobs of other owners.
    pub(super) async fn job(&self, id: &str) -> Result<Arc<Job>, Problem> {
        let job = match id.parse() {
            Ok(id) => self.engine.find(self.owner, id).await.map_err(|error| of_store(&error))?,
            Err(()) => None,
        };
        job.ok_or_else(no_job)
    }

    /// Calls `read` on files of a job, on a blocking thread. A job with damaged files is marked as failed.
    ///
    /// # Errors
    /// `not-found` if the files are damaged, or the job was deleted meanwhile; the problem of the store.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        job: &Arc<Job>,
        read: impl FnOnce(&Job) -> Result<T, JobError> + Send + 'static,
    ) -> Result<T, Problem> {
        let (engine, job) = (Arc::clone(&self.engine), Arc::clone(job));
        blocking(move || read(&job).map_err(|error| report(&engine, &job, &error))).await?
    }
}

/// The problem of unreadable files. This call blocks.
pub(super) fn report(engine: &JobEngine, job: &Arc<Job>, error: &JobError) -> Problem {
    if error.is_temporary() {
        return of_store(error);
    }
    match engine.report_damage(job, error) {
        Ok(true) => of_damage(job, error),
        Ok(false) => no_job(),
        Err(error) => of_store(&error),
    }
}

/// The problem of an unknown id.
pub(super) fn no_job() -> Problem {
    let detail =
        "You have no job with this id. It may have been deleted, or belong to another token; `GET /jobs` lists yours.";
    Problem::new(ProblemKind::NotFound, detail)
}

/// Checks the conditions of a request for a resource without a tag (RFC 9110, section 13.1.1).
///
/// # Errors
/// `precondition-failed` if `If-Match` has tags.
pub(super) fn check_untagged(headers: &HeaderMap) -> Result<(), Problem> {
    if is_matched(headers, None) {
        return Ok(());
    }
    Err(Problem::new(ProblemKind::PreconditionFailed, "The response has no tag, so that only `If-Match: *` is met."))
}

/// The idempotency key of a request.
///
/// # Errors
/// `invalid-header` if the header is not a valid key.
pub(super) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let is_visible = value.as_bytes().iter().all(u8::is_ascii_graphic);
    match value.to_str() {
        Ok(key) if is_visible && (1..=MAX_KEY).contains(&key.len()) && values.next().is_none() => {
            Ok(Some(key.to_owned()))
        }
        _ => {
            let detail = format!("`Idempotency-Key` must be given once, with 1 to {MAX_KEY} visible ASCII characters.");
            Err(Problem::new(ProblemKind::InvalidHeader, detail))
        }
    }
}

/// Calls a blocking function on a blocking thread. Its log lines have the id of the request.
///
/// # Errors
/// `internal` if the call panics, or the service is stopping.
pub(super) async fn blocking<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
    let span = Span::current();
    let called = tokio::task::spawn_blocking(move || span.in_scope(call)).await;
    called.map_err(|error| {
        tracing::error!(target: "taquin::jobs", %error, "a call that blocks has not returned");
        Problem::internal()
    })
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn key(values: &[&str]) -> Result<Option<String>, ProblemKind> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(IDEMPOTENCY_KEY, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        idempotency_key(&headers).map_err(|problem| problem.kind)
    }

    #[test]
    fn a_key_is_one_header_of_visible_characters() {
        assert_eq!(key(&[]), Ok(None));
        for good in ["a", "\"8e03978e-40d5-43dd-bc93-6894a57f9324\"", &"~".repeat(255)] {
            assert_eq!(key(&[good]), Ok(Some(good.to_owned())));
        }
        for wrong in [&[""][..], &["a b"], &["ü"], &["a", "a"], &[&"a".repeat(256)]] {
            assert_eq!(key(wrong), Err(ProblemKind::InvalidHeader), "{wrong:?}");
        }
    }
}
