//! Body of a streamed response.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::unfold;
use tokio::time::timeout;

use super::stream::{SolveStream, StreamEvent};
use crate::http::exchange::{AccessLine, DeferredBody};
use crate::http::media_type::MediaType;
use crate::http::payload::{Payload, Pieces};
use crate::http::reply::{ProgressReply, json, stream_head};

/// Idle time after which a comment is sent, to detect closed connections.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// Id of the last event. A reconnecting browser sends it as `Last-Event-ID`.
pub(crate) const END: HeaderValue = HeaderValue::from_static("end");

/// End of the last event.
const LAST: &str = "\nid: end\n\n";

/// Writes the stream of one request, and its access line at the end.
struct Writer {
    stream: SolveStream,
    line: AccessLine,
    /// Path of the request.
    instance: String,
    /// Rest of the current event.
    pieces: Option<Box<dyn Pieces>>,
}

/// Returns the streamed response. Dropping its body cancels the search, unless another client waits for its result.
pub(crate) fn response(stream: SolveStream) -> Response {
    let mut response = stream_head(stream.media_type());
    let body = DeferredBody::new(|line, instance| {
        let writer = Writer { stream, line, instance, pieces: None };
        Body::from_stream(unfold(writer, |mut writer| async {
            Some((Ok::<_, Infallible>(writer.next().await?), writer))
        }))
    });
    response.extensions_mut().insert(body);
    response
}

impl Writer {
    /// Returns the next piece of the body.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(piece) = self.piece().await {
                return Some(piece);
            }
            match timeout(HEARTBEAT, self.stream.next()).await {
                Ok(event) => match self.write(event?) {
                    Payload::Whole(text) => return Some(text.into()),
                    Payload::Pieces(pieces) => self.pieces = Some(pieces),
                },
                Err(_) if self.stream.media_type() == MediaType::Events => return Some(Bytes::from_static(b":\n\n")),
                Err(_) => {}
            }
        }
    }

    /// Returns the next piece of the current event.
    async fn piece(&mut self) -> Option<Bytes> {
        let piece = self.pieces.as_mut()?.next().await;
        if piece.is_none() {
            self.pieces = None;
        }
        piece
    }

    fn write(&mut self, event: StreamEvent) -> Payload {
        self.record(&event);
        if self.stream.media_type() == MediaType::Events { self.event(event) } else { self.lines(event) }
    }

    /// Records the outcome in the access line.
    fn record(&mut self, event: &StreamEvent) {
        match event {
            StreamEvent::Solution { .. } | StreamEvent::Progress(_) => return,
            StreamEvent::Result(_) => {}
            StreamEvent::Problem(problem) => self.line.problem = Some(problem.kind.slug()),
        }
        self.line.status = StatusCode::OK;
    }

    /// Writes a server-sent event (HTML standard). Compact JSON has no line ends, so one `data` line suffices.
    fn event(&self, event: StreamEvent) -> Payload {
        match event {
            StreamEvent::Solution { json, .. } => json.between("event: solution\ndata: ", "\n\n"),
            StreamEvent::Progress(reply) => Payload::Whole(json(&reply)).between("event: progress\ndata: ", "\n\n"),
            StreamEvent::Result(reply) => reply.between("event: result\ndata: ", LAST),
            StreamEvent::Problem(problem) => {
                let document = problem.document(MediaType::Json, &self.instance, self.line.request_id());
                match problem.retry_after() {
                    // Tells the browser when to reconnect.
                    Some(seconds) => {
                        document.between("event: problem\ndata: ", format!("\nretry: {}\n\n", 1000 * seconds))
                    }
                    None => document.between("event: problem\ndata: ", LAST),
                }
            }
        }
    }

    fn lines(&self, event: StreamEvent) -> Payload {
        match event {
            StreamEvent::Solution { length, lower_bound, elapsed, .. } => {
                let moves = if length == 1 { "move" } else { "moves" };
                line(elapsed, &format!("found a solution of {length} {moves}; none has fewer than {lower_bound}"))
            }
            StreamEvent::Progress(reply) => line(Duration::from_micros(reply.elapsed_us), &progress(&reply)),
            StreamEvent::Result(reply) => reply.between("\n", ""),
            StreamEvent::Problem(problem) => {
                problem.document(MediaType::Text, &self.instance, self.line.request_id()).between("\n", "")
            }
        }
    }
}

fn line(elapsed: Duration, text: &str) -> Payload {
    Payload::Whole(format!("{:7.2} s  {text}\n", elapsed.as_secs_f64()).into_bytes())
}

fn progress(reply: &ProgressReply) -> String {
    let ProgressReply { expanded, lower_bound, threshold, length, .. } = reply;
    if *expanded == 0 {
        return "waiting".to_owned();
    }
    let within = threshold
        .map_or_else(String::new, |threshold| format!(", looking for a solution of at most {threshold} moves"));
    let best = length.map_or_else(String::new, |length| format!("; best so far: {length} moves"));
    format!("{expanded} expanded{within}{best}; no solution has fewer than {lower_bound}")
}
