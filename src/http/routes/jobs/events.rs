//! `GET /jobs/{id}/events`: the progress of a job as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream::unfold;
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};

use super::caller::Caller;
use super::reply::json_of;
use crate::http::exchange::{AccessLine, DeferredBody};
use crate::http::media_type::MediaType;
use crate::http::negotiation::choose;
use crate::http::problem::Problem;
use crate::http::reply::stream_head;
use crate::http::routes::solve::END;
use crate::jobs::{Job, JobEngine};

/// Writes the events of one request, and its access line at the end.
struct JobEvents {
    engine: Arc<JobEngine>,
    job: Arc<Job>,
    changes: watch::Receiver<u64>,
    /// When the next event may be sent; `None` before the first.
    next: Option<Instant>,
    is_over: bool,
    line: AccessLine,
}

/// Least time between two events.
const PERIOD: Duration = Duration::from_millis(500);

/// Idle time after which a comment is sent, to detect closed connections.
const HEARTBEAT: Duration = Duration::from_secs(5);

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Handles GET.
pub(in crate::http::routes) async fn events(
    caller: Caller,
    id: Path<String>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    choose(&headers, &[MediaType::Events])?;
    let job = caller.job(&id)?;
    // A browser reconnects when a stream ends, until it receives status 204.
    if headers.get(LAST_EVENT_ID) == Some(&END) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let mut response = stream_head(MediaType::Events);
    if method != Method::HEAD {
        let (engine, changes) = (caller.engine, job.changes());
        response.extensions_mut().insert(DeferredBody::new(move |line, _| {
            let events = JobEvents { engine, job, changes, next: None, is_over: false, line };
            Body::from_stream(unfold(events, |mut events| async {
                Some((Ok::<_, Infallible>(events.next().await?), events))
            }))
        }));
    }
    Ok(response)
}

impl JobEvents {
    /// Waits for the next event. Returns `None` after the last one, and when the service shuts down.
    async fn next(&mut self) -> Option<Bytes> {
        self.line.status = StatusCode::OK;
        if self.is_over {
            return None;
        }
        if self.next.is_some() {
            let engine = Arc::clone(&self.engine);
            tokio::select! {
                waited = timeout(HEARTBEAT, self.change()) => if waited.is_err() {
                    return Some(Bytes::from_static(b":\n\n"));
                },
                () = engine.drained() => return None,
            }
        }
        self.next = Some(Instant::now() + PERIOD);
        let view = self.engine.view(&self.job);
        self.is_over = view.state.is_ended();
        let (name, end) = if self.is_over { ("completed", "\nid: end\n\n") } else { ("progress", "\n\n") };
        Some([format!("event: {name}\ndata: ").as_bytes(), &json_of(&view), end.as_bytes()].concat().into())
    }

    /// Waits for a change, and until another event may be sent. The end of the job is sent at once.
    async fn change(&mut self) {
        // The job, which this owns, has the sender.
        let _ = self.changes.changed().await;
        while let Some(next) = self.next
            && !self.job.state().is_ended()
            && timeout_at(next, self.changes.changed()).await.is_ok()
        {}
    }
}
