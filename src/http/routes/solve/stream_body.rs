//! How an answer is written while its search goes on.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode};
use bytes::Bytes;
use futures_util::stream::unfold;
use tokio::time::timeout;

use super::stream::{Feed, Happening};
use crate::http::exchange::AccessLine;
use crate::http::negotiation::Offer;
use crate::http::reply::{LongReply, ProgressReply, Written, json};

/// How long nothing is written until a comment is, so that a reader who has gone is noticed.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// The id of the event that ends a stream. A browser that asks again tells it.
pub(crate) const END: HeaderValue = HeaderValue::from_static("end");

/// The end of the event that ends a stream.
const LAST: &str = "\nid: end\n\n";

/// A feed for one request, and the line that tells of it when it ends.
struct Writer {
    feed: Feed,
    line: AccessLine,
    /// The path that was asked.
    instance: String,
    /// What is being written.
    long: Option<Box<LongReply>>,
}

/// The body of an answer. Dropped before its end, it stops the search, unless somebody else waits for it.
pub(crate) fn body(feed: Feed, line: AccessLine, instance: String) -> Body {
    let writer = Writer { feed, line, instance, long: None };
    Body::from_stream(unfold(writer, |mut writer| async { Some((Ok::<_, Infallible>(writer.next().await?), writer)) }))
}

impl Writer {
    /// The next piece of the body.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(piece) = self.piece().await {
                return Some(piece);
            }
            match timeout(HEARTBEAT, self.feed.next()).await {
                Ok(happening) => match self.written(happening?) {
                    Written::Whole(text) => return Some(text.into()),
                    Written::Long(reply) => self.long = Some(reply),
                },
                Err(_) if self.feed.offer() == Offer::Events => return Some(Bytes::from_static(b":\n\n")),
                Err(_) => {}
            }
        }
    }

    /// The next piece of what is being written.
    async fn piece(&mut self) -> Option<Bytes> {
        let piece = self.long.as_mut()?.next().await;
        if piece.is_none() {
            self.long = None;
        }
        piece
    }

    fn written(&mut self, happening: Happening) -> Written {
        self.note(&happening);
        if self.feed.offer() == Offer::Events { self.event(happening) } else { self.lines(happening) }
    }

    /// Tells the access line how it ends.
    fn note(&mut self, happening: &Happening) {
        match happening {
            Happening::Solution { .. } | Happening::Progress(_) => return,
            Happening::Result(_) => {}
            Happening::Problem(problem) => self.line.problem = Some(problem.kind.slug()),
        }
        self.line.status = StatusCode::OK;
    }

    /// An event, as the HTML standard has it; JSON has no line ends.
    fn event(&self, happening: Happening) -> Written {
        match happening {
            Happening::Solution { json, .. } => json.between("event: solution\ndata: ", "\n\n"),
            Happening::Progress(reply) => Written::Whole(json(&reply)).between("event: progress\ndata: ", "\n\n"),
            Happening::Result(reply) => reply.between("event: result\ndata: ", LAST),
            Happening::Problem(problem) => {
                let document = problem.document(Offer::Json, &self.instance, self.line.request_id());
                match problem.retry_after() {
                    // Who asks again after that time is welcome.
                    Some(seconds) => {
                        document.between("event: problem\ndata: ", &format!("\nretry: {}\n\n", 1000 * seconds))
                    }
                    None => document.between("event: problem\ndata: ", LAST),
                }
            }
        }
    }

    fn lines(&self, happening: Happening) -> Written {
        match happening {
            Happening::Solution { length, lower_bound, elapsed, .. } => {
                let moves = if length == 1 { "move" } else { "moves" };
                line(elapsed, &format!("found {length} {moves}; no solution has fewer than {lower_bound}"))
            }
            Happening::Progress(reply) => line(Duration::from_micros(reply.elapsed_us), &progress(&reply)),
            Happening::Result(reply) => reply.between("\n", ""),
            Happening::Problem(problem) => {
                problem.document(Offer::Text, &self.instance, self.line.request_id()).between("\n", "")
            }
        }
    }
}

fn line(elapsed: Duration, text: &str) -> Written {
    Written::Whole(format!("{:7.2} s  {text}\n", elapsed.as_secs_f64()).into_bytes())
}

fn progress(reply: &ProgressReply) -> String {
    let ProgressReply { expanded, lower_bound, threshold, length, .. } = reply;
    if *expanded == 0 {
        return "waiting".to_owned();
    }
    let within = threshold.map_or_else(String::new, |threshold| format!(" within {threshold} moves"));
    let best = length.map_or_else(String::new, |length| format!("; {length} moves so far"));
    format!("{expanded} expanded{within}{best}; no solution has fewer than {lower_bound}")
}
