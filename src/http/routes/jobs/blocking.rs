//! Blocking calls, such as reads of a job's files.

use tracing::Span;

use crate::http::problem::Problem;

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
