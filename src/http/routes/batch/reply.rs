//! The response to a batch: a line for each row as the client takes it, then a summary.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream::unfold;
use serde_json::json;
use taquin_bulk::rows::{RowReader, row_json, unserved};
use taquin_bulk::{Row, RowError};
use tracing::Level;

use super::lines::Line;
use super::work::{BatchWork, LabelledLines, Taken};
use crate::http::exchange::AccessLine;
use crate::http::problem::{Problem, ProblemKind};
use crate::http::reply::service_failure;
use crate::service::BulkHandle;

/// Writes the lines of one batch. Dropping it ends the batch.
pub(super) struct BatchReply {
    work: Arc<BatchWork>,
    handle: BulkHandle,
    begun: Instant,
    line: AccessLine,
    /// Path of the request.
    instance: String,
    counts: Counts,
    /// True once the last line is written.
    is_over: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    boards: u64,
    solved: u64,
    failed: u64,
}

impl BatchReply {
    /// The body of the response. The time of the batch counts from `begun`.
    pub(super) fn body(
        work: Arc<BatchWork>,
        handle: BulkHandle,
        begun: Instant,
        line: AccessLine,
        instance: String,
    ) -> Body {
        let reply = Self { work, handle, begun, line, instance, counts: Counts::default(), is_over: false };
        Body::from_stream(unfold(reply, |mut reply| async { Some((Ok::<_, Infallible>(reply.next().await?), reply)) }))
    }

    /// Waits for the next lines. Returns `None` after the last one.
    async fn next(&mut self) -> Option<Bytes> {
        if self.is_over {
            return None;
        }
        loop {
            // Other connections of the thread come first.
            tokio::task::yield_now().await;
            let (taken, has_to_wake) = self.work.take();
            if has_to_wake {
                self.handle.wake();
            }
            match taken {
                Taken::Labels(lines, labelled) => return Some(self.lines(&lines, &labelled).into()),
                Taken::NotYet => self.work.changed().await,
                Taken::All => return Some(self.summary()),
                Taken::Aborted(error) => return Some(self.problem(&service_failure(&error))),
            }
        }
    }

    fn lines(&mut self, lines: &[Line], labelled: &LabelledLines) -> Vec<u8> {
        const BYTES_OF_A_LINE: usize = 48;
        let mut out = Vec::with_capacity(lines.len() * BYTES_OF_A_LINE);
        let Some(reader) = self.work.reader() else { return out };
        let want = self.work.want();
        let mut readings = labelled.readings.iter().peekable();
        for (at, (line, row)) in lines.iter().zip(labelled.part.rows()).enumerate() {
            let read_as = readings.next_if(|(own, _)| *own == at).map(|(_, read_as)| &**read_as);
            self.counts.boards += 1;
            match row {
                Row::Solved(label) => {
                    self.counts.solved += 1;
                    row_json(line.number, (reader.id(&line.text).as_deref(), read_as), Ok(&label), want, &mut out);
                }
                Row::Failed | Row::Invalid => {
                    self.counts.failed += 1;
                    let (id, problem) = problem_of(&row, &line.text, reader);
                    row_json(line.number, (id.as_deref(), read_as), Err(&problem), want, &mut out);
                }
            }
        }
        out
    }

    /// The last line of a batch that is done.
    fn summary(&mut self) -> Bytes {
        self.end(None);
        let Counts { boards, solved, failed } = self.counts;
        let elapsed_us = self.begun.elapsed().as_micros() as u64;
        let summary = json!({"boards": boards, "solved": solved, "failed": failed, "elapsed_us": elapsed_us});
        format!("{}\n", json!({ "summary": summary })).into()
    }

    /// The last line of a batch that ends before it is done.
    fn problem(&mut self, problem: &Problem) -> Bytes {
        self.end(Some(problem.kind));
        let document = problem.to_json(&self.instance, self.line.request_id());
        let head = format!("{{\"status\":{},\"problem\":", problem.kind.status().as_u16());
        [head.as_bytes(), &document, b"}\n"].concat().into()
    }

    /// Records the end in the access line.
    fn end(&mut self, problem: Option<ProblemKind>) {
        self.is_over = true;
        self.line.end_stream();
        if let Some(problem) = problem {
            self.line.fail(problem);
        }
    }
}

/// What is wrong with a row, which is read again for that.
fn problem_of<'l>(row: &Row, line: &'l [u8], reader: &RowReader) -> (Option<std::borrow::Cow<'l, [u8]>>, RowError) {
    let read = reader.read(line);
    let problem = match (row, read.puzzle) {
        (Row::Invalid, Err(problem)) => *problem,
        (Row::Invalid, Ok(puzzle)) => unserved(puzzle.size()),
        _ => RowError::internal(),
    };
    (read.id, problem)
}

/// Logs the batch, also if the client has left.
impl Drop for BatchReply {
    fn drop(&mut self) {
        let Counts { boards, solved, failed } = self.counts;
        tracing::event!(
            target: "taquin::batch",
            Level::INFO,
            message = if self.is_over { "batch finished" } else { "batch cancelled: the client left" },
            http.request_id = self.line.request_id(),
            batch.boards = boards,
            batch.solved = solved,
            batch.failed = failed,
            elapsed_us = self.begun.elapsed().as_micros() as u64,
        );
    }
}
