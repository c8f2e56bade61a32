//! Body of a streamed response.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderValue;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::unfold;
use tokio::time::timeout;

use super::stream::{SolveStream, StreamEvent};
use crate::http::exchange::AccessLine;
use crate::http::media_type::MediaType;
use crate::http::problem::Problem;
use crate::http::reply::{ProgressReply, json, reserved_if_long, stream_head};
use crate::service::Service;

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
    service: Arc<Service>,
}

/// Returns the streamed response. Dropping its body cancels the search, unless another client waits for its result.
pub(crate) fn response(service: Arc<Service>, stream: SolveStream, line: AccessLine, instance: String) -> Response {
    let mut response = stream_head(stream.layout.media_type);
    let writer = Writer { stream, line, instance, service };
    *response.body_mut() = Body::from_stream(unfold(writer, |mut writer| async {
        Some((Ok::<_, Infallible>(writer.next().await?), writer))
    }));
    response
}

impl Writer {
    /// Returns the next piece of the body.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            match timeout(HEARTBEAT, self.stream.next()).await {
                Ok(event) => return Some(self.write(event?)),
                Err(_) if self.stream.layout.media_type == MediaType::Events => {
                    return Some(Bytes::from_static(b":\n\n"));
                }
                Err(_) => {}
            }
        }
    }

    /// Writes an event. If there is no memory for a long one, the stream ends with this problem.
    fn write(&mut self, event: StreamEvent) -> Bytes {
        self.record(&event);
        reserved_if_long(&self.service, self.text(event)).unwrap_or_else(|problem| self.last(problem))
    }

    fn last(&mut self, problem: Problem) -> Bytes {
        self.stream.end();
        let event = StreamEvent::Problem(Box::new(problem));
        self.record(&event);
        self.text(event).into()
    }

    fn text(&self, event: StreamEvent) -> Vec<u8> {
        if self.stream.layout.media_type == MediaType::Events { self.event(event) } else { self.lines(event) }
    }

    /// Records the outcome in the access line.
    fn record(&mut self, event: &StreamEvent) {
        match event {
            StreamEvent::Solution { .. } | StreamEvent::Progress(_) => return,
            StreamEvent::Result(_) => {}
            StreamEvent::Problem(problem) => self.line.fail(problem.kind),
        }
        self.line.end_stream();
        if let Some(answer) = self.stream.answer.take() {
            self.line.add_search(self.stream.puzzle.size(), &answer);
        }
    }

    /// Writes a server-sent event (HTML standard). Compact JSON has no line ends, so one `data` line suffices.
    fn event(&self, event: StreamEvent) -> Vec<u8> {
        let (name, data, end) = match event {
            StreamEvent::Solution { json, .. } => ("solution", json, "\n\n".to_owned()),
            StreamEvent::Progress(reply) => ("progress", json(&reply), "\n\n".to_owned()),
            StreamEvent::Result(reply) => ("result", reply, LAST.to_owned()),
            StreamEvent::Problem(problem) => {
                let document = problem.document(MediaType::Json, &self.instance, self.line.request_id());
                // Tells the browser when to reconnect.
                let retry = problem.retry_after().map(|seconds| format!("\nretry: {}\n\n", 1000 * seconds));
                ("problem", document, retry.unwrap_or_else(|| LAST.to_owned()))
            }
        };
        [b"event: ", name.as_bytes(), b"\ndata: ", &data, end.as_bytes()].concat()
    }

    fn lines(&self, event: StreamEvent) -> Vec<u8> {
        match event {
            StreamEvent::Solution { length, lower_bound, elapsed, .. } => {
                let moves = if length == 1 { "move" } else { "moves" };
                line(elapsed, &format!("found a solution of {length} {moves}; none has fewer than {lower_bound}"))
            }
            StreamEvent::Progress(reply) => line(Duration::from_micros(reply.elapsed_us), &progress(&reply)),
            StreamEvent::Result(reply) => [b"\n", &*reply].concat(),
            StreamEvent::Problem(problem) => {
                [b"\n", &*problem.document(MediaType::Text, &self.instance, self.line.request_id())].concat()
            }
        }
    }
}

fn line(elapsed: Duration, text: &str) -> Vec<u8> {
    format!("{:7.2} s  {text}\n", elapsed.as_secs_f64()).into_bytes()
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
