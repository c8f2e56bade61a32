//! How an answer is written while its search goes on.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream::{Stream, StreamExt, unfold};

use super::Offer;
use super::exchange::AccessLine;
use super::live::{Feed, Happening};
use super::solve_json::json;
use super::solve_reply::ProgressReply;

/// How long nothing is written until a comment is, so that a reader who has gone is noticed.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// The id of the event that ends a stream. A browser that asks again tells it.
pub(super) const END: HeaderValue = HeaderValue::from_static("end");

/// A feed for one request, and the line that tells of it when it ends.
struct Writer {
    feed: Feed,
    line: AccessLine,
    /// The path that was asked.
    instance: String,
}

/// The body of an answer. Dropped before its end, it stops the search, unless somebody else waits for it.
pub(super) fn body(feed: Feed, line: AccessLine, instance: String) -> Body {
    let offer = feed.offer();
    let writer = Writer { feed, line, instance };
    if offer == Offer::Events {
        let events = written(writer, Writer::event).map(Ok::<Event, Infallible>);
        let events = Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT));
        Response::into_body(events.into_response())
    } else {
        Body::from_stream(written(writer, Writer::lines).map(Ok::<Bytes, Infallible>))
    }
}

/// What happens, piece by piece.
fn written<T>(writer: Writer, write: fn(&Writer, Happening) -> T) -> impl Stream<Item = T> {
    unfold(writer, move |mut writer| async move {
        let happening = writer.feed.next().await?;
        writer.note(&happening);
        Some((write(&writer, happening), writer))
    })
}

impl Writer {
    /// Tells the access line how it ends.
    fn note(&mut self, happening: &Happening) {
        match happening {
            Happening::Solution { .. } | Happening::Progress(_) => return,
            Happening::Result(_) => {}
            Happening::Problem(problem) => self.line.problem = Some(problem.kind.slug()),
        }
        self.line.status = StatusCode::OK;
    }

    fn event(&self, happening: Happening) -> Event {
        let (name, json) = match &happening {
            Happening::Solution { json, .. } => ("solution", json.clone()),
            Happening::Progress(reply) => ("progress", json(reply)),
            Happening::Result(reply) => ("result", reply.clone()),
            Happening::Problem(problem) => ("problem", problem.to_json(&self.instance, self.line.request_id())),
        };
        let event = Event::default().event(name).data(String::from_utf8_lossy(&json));
        match happening {
            Happening::Solution { .. } | Happening::Progress(_) => event,
            Happening::Result(_) => event.id("end"),
            Happening::Problem(problem) => match problem.retry_after() {
                // Who asks again after that time is welcome.
                Some(seconds) => event.retry(Duration::from_secs(seconds)),
                None => event.id("end"),
            },
        }
    }

    fn lines(&self, happening: Happening) -> Bytes {
        match happening {
            Happening::Solution { length, lower_bound, elapsed, .. } => {
                let moves = if length == 1 { "move" } else { "moves" };
                line(elapsed, &format!("found {length} {moves}; at least {lower_bound} are needed"))
            }
            Happening::Progress(reply) => line(Duration::from_micros(reply.elapsed_us), &progress(&reply)),
            Happening::Result(reply) => [b"\n", &*reply].concat().into(),
            Happening::Problem(problem) => format!("\n{}", problem.to_text(self.line.request_id())).into(),
        }
    }
}

fn line(elapsed: Duration, text: &str) -> Bytes {
    format!("{:7.2} s  {text}\n", elapsed.as_secs_f64()).into()
}

fn progress(reply: &ProgressReply) -> String {
    let ProgressReply { expanded, lower_bound, threshold, length, .. } = reply;
    if *expanded == 0 {
        return "waiting".to_owned();
    }
    let within = threshold.map_or_else(String::new, |threshold| format!(" within {threshold} moves"));
    let best = length.map_or_else(String::new, |length| format!("; {length} moves so far"));
    format!("{expanded} expanded{within}{best}; at least {lower_bound} are needed")
}
