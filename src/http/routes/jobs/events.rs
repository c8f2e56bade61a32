//! `GET /jobs/{id}/events`: the progress of a job as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Extension, Path};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream::unfold;
use tokio::time::{Instant, timeout};

use super::caller::{Caller, check_untagged};
use super::prefer::wait_until;
use super::reply::{json_of, tag_of};
use crate::http::exchange::AccessLine;
use crate::http::media_type::MediaType;
use crate::http::negotiation::choose;
use crate::http::problem::Problem;
use crate::http::reply::stream_head;
use crate::http::routes::solve::END;
use crate::jobs::{Job, JobEngine, JobView};

/// Writes the events of one request, and its access line at the end.
struct JobEvents {
    engine: Arc<JobEngine>,
    job: Arc<Job>,
    /// When the last event was sent, and the tag of the job then.
    sent: Option<(Instant, Vec<u8>)>,
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
    Extension(line): Extension<AccessLine>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    choose(&headers, &[MediaType::Events])?;
    let job = caller.job(&id).await?;
    check_untagged(&headers)?;
    // A browser reconnects when a stream ends, until it receives status 204.
    if headers.get(LAST_EVENT_ID) == Some(&END) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let mut response = stream_head(MediaType::Events);
    if method != Method::HEAD {
        let engine = caller.engine;
        let events = JobEvents { engine, job, sent: None, is_over: false, line: line.for_stream() };
        *response.body_mut() = Body::from_stream(unfold(events, |mut events| async {
            Some((Ok::<_, Infallible>(events.next().await?), events))
        }));
    }
    Ok(response)
}

impl JobEvents {
    /// Waits for the next event. Returns `None` after the last one, and when the service shuts down.
    async fn next(&mut self) -> Option<Bytes> {
        self.line.end_stream();
        if self.is_over {
            return None;
        }
        // The end of the job is sent at once.
        let is_new = |view: &JobView| {
            view.state.is_ended()
                || self.sent.as_ref().is_none_or(|(at, tag)| at.elapsed() >= PERIOD && *tag != tag_of(view))
        };
        let view = tokio::select! {
            waited = timeout(HEARTBEAT, wait_until(&self.engine, &self.job, is_new)) => match waited {
                Ok(view) => view,
                Err(_) => return Some(Bytes::from_static(b":\n\n")),
            },
            () = self.engine.drained(), if self.sent.is_some() => return None,
        };
        self.sent = Some((Instant::now(), tag_of(&view)));
        self.is_over = view.state.is_ended();
        let (name, end) = if self.is_over { ("completed", "\nid: end\n\n") } else { ("progress", "\n\n") };
        Some([format!("event: {name}\ndata: ").as_bytes(), &json_of(&view), end.as_bytes()].concat().into())
    }
}
