//! Streams the lines of a request body.

use std::pin::pin;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::{HeaderValue, header};
use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use http_body_util::BodyExt;
use taquin_bulk::rows::{InputText, MAX_LINE, RowReader};
use tokio::time::{Instant, timeout};

use crate::http::problem::{Problem, ProblemKind};
use crate::http::request::BodyDigest;
use crate::http::state::BatchLimits;

/// A line with a row.
#[derive(Clone, Debug)]
pub(in crate::http::routes) struct Line {
    /// Line number in the body, from 1.
    pub(in crate::http::routes) number: u64,
    pub(in crate::http::routes) text: Bytes,
}

/// Use of the lines of a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::http::routes) enum LinesOf {
    Batch,
    Job,
}

/// Reads a body within limits of size and time.
pub(in crate::http::routes) struct LineReceiver {
    body: Body,
    of: LinesOf,
    /// Converts the body to lines; `None` for lines as they are.
    pub(in crate::http::routes) text: Option<InputText>,
    /// The digest, which is compared at the end of the body.
    pub(in crate::http::routes) digest: Option<BodyDigest>,
    limits: BatchLimits,
    /// Time to wait for each mebibyte.
    timeout: Duration,
    /// Time waited for the current mebibyte.
    waited: Duration,
    received: usize,
    /// Bytes after the last complete line; at most `KEPT` bytes of an overlong line.
    rest: BytesMut,
    /// Number of lines before the rest.
    lines: u64,
    is_over: bool,
}

/// Bytes kept of an overlong line: the limit plus one, so that the row reader rejects the line.
const KEPT: usize = MAX_LINE + 1;

impl LineReceiver {
    /// Creates a receiver of a body.
    ///
    /// # Errors
    /// `content-too-large` if the announced length exceeds the limit. A client that waits for `100 Continue` then sends
    /// no body.
    pub(in crate::http::routes) fn new(
        body: Body,
        of: LinesOf,
        limits: BatchLimits,
        timeout: Duration,
    ) -> Result<Self, Problem> {
        if body.size_hint().lower() > limits.bytes as u64 {
            return Err(of.too_large(&format!("The body exceeds the maximum of {} bytes", limits.bytes)));
        }
        let (waited, rest) = (Duration::ZERO, BytesMut::new());
        Ok(Self {
            body,
            of,
            text: None,
            digest: None,
            limits,
            timeout,
            waited,
            received: 0,
            rest,
            lines: 0,
            is_over: false,
        })
    }

    /// Minimum size of the rest of the body, in bytes.
    pub(super) fn announced(&self) -> usize {
        self.body.size_hint().lower() as usize
    }

    /// Number of received bytes.
    pub(super) fn received(&self) -> usize {
        self.received
    }

    /// Waits for more lines. Returns `None` at the end.
    ///
    /// # Errors
    /// The problem of the whole body.
    pub(in crate::http::routes) async fn next(&mut self) -> Result<Option<Vec<Line>>, Problem> {
        while !self.is_over {
            let lines = match self.frame().await? {
                Some(data) => self.append(&data)?,
                None => {
                    self.is_over = true;
                    self.digest.take().map_or(Ok(()), BodyDigest::finish)?;
                    let end = self.text.as_mut().map_or(Ok(Vec::new()), InputText::finish)?;
                    let mut rows = self.cut(&end);
                    // The last line needs no line terminator.
                    let last = self.rest.split().freeze();
                    if !last.is_empty() {
                        rows.extend(self.rows_of(last));
                    }
                    rows
                }
            };
            if !lines.is_empty() {
                return Ok(Some(lines));
            }
        }
        Ok(None)
    }

    async fn frame(&mut self) -> Result<Option<Bytes>, Problem> {
        loop {
            let mut frame = pin!(self.body.frame());
            // Most frames are available at once and need no timer.
            let frame = match frame.as_mut().now_or_never() {
                Some(frame) => frame,
                None => {
                    let begun = Instant::now();
                    let frame = timeout(self.timeout.saturating_sub(self.waited), frame).await;
                    self.waited += begun.elapsed();
                    frame.map_err(|_| self.too_late())?
                }
            };
            match frame {
                None => return Ok(None),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => return Ok(Some(data)),
                    Err(_) => continue,
                },
                Some(Err(_)) => {
                    let detail = "The body is incomplete, or its framing is not valid.";
                    return Err(Problem::new(ProblemKind::MalformedJson, detail));
                }
            }
        }
    }

    fn append(&mut self, data: &[u8]) -> Result<Vec<Line>, Problem> {
        const MEBIBYTE: usize = 1 << 20;
        let before = self.received / MEBIBYTE;
        self.received += data.len();
        if self.received / MEBIBYTE > before {
            self.waited = Duration::ZERO;
        }
        if self.received > self.limits.bytes {
            return Err(self.of.too_large(&format!("The body exceeds the maximum of {} bytes", self.limits.bytes)));
        }
        if let Some(digest) = &mut self.digest {
            digest.update(data);
        }
        let text = self.text.as_mut().map(|text| text.push(data)).transpose()?;
        Ok(self.cut(text.as_deref().unwrap_or(data)))
    }

    /// Cuts text into lines, and keeps the last line if the line is incomplete.
    fn cut(&mut self, text: &[u8]) -> Vec<Line> {
        let Some(end) = text.iter().rposition(|byte| *byte == b'\n') else {
            self.keep(text);
            return Vec::new();
        };
        let (complete, rest) = text.split_at(end + 1);
        self.rest.extend_from_slice(complete);
        let complete = self.rest.split().freeze();
        self.keep(rest);
        self.rows_of(complete)
    }

    /// Keeps bytes of an incomplete line, up to the maximum length.
    fn keep(&mut self, data: &[u8]) {
        let (kept, dropped) = data.split_at(data.len().min(KEPT.saturating_sub(self.rest.len())));
        self.rest.extend_from_slice(kept);
        // A line with a dropped non-blank byte must not count as blank.
        if !RowReader::is_blank(dropped)
            && RowReader::is_blank(&self.rest)
            && let Some(last) = self.rest.last_mut()
        {
            *last = b'?';
        }
    }

    /// The rows of complete lines.
    fn rows_of(&mut self, text: Bytes) -> Vec<Line> {
        let mut rows = Vec::new();
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            self.lines += 1;
            if !self.text.as_ref().map_or_else(|| RowReader::is_blank(line), |text| text.skips(line)) {
                rows.push(Line { number: self.lines, text: text.slice_ref(line) });
            }
        }
        rows
    }

    fn too_late(&self) -> Problem {
        let (received, seconds) = (self.received, self.timeout.as_secs_f64());
        let detail = format!(
            "The body did not arrive in time: {received} bytes came, and each mebibyte may take {seconds} s. {}.",
            self.of.less()
        );
        Problem::new(ProblemKind::RequestTimeout, detail)
    }
}

impl LinesOf {
    /// The problem of a body that exceeds a limit.
    pub(in crate::http::routes) fn too_large(self, what: &str) -> Problem {
        let detail = format!("{what}. {}, or use the command `taquin batch`, which has no limit.", self.several());
        // The client may still send more bytes.
        let close = HeaderValue::from_static("close");
        Problem::new(ProblemKind::ContentTooLarge, detail).with_header(header::CONNECTION, close)
    }

    fn several(self) -> &'static str {
        match self {
            Self::Batch => "Send several batches",
            Self::Job => "Create several jobs",
        }
    }

    fn less(self) -> &'static str {
        match self {
            Self::Batch => "Send smaller batches",
            Self::Job => "Create several jobs with fewer boards",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::StreamExt;
    use futures_util::stream::{iter, pending};

    use super::*;

    const LIMITS: BatchLimits = BatchLimits { boards: 4, bytes: 100 };
    const TIME: Duration = Duration::from_millis(20);

    fn chunks(chunks: &[&'static str]) -> Body {
        Body::from_stream(iter(chunks.to_vec()).map(Ok::<_, Infallible>))
    }

    async fn all(body: Body) -> Result<Vec<(u64, String)>, Problem> {
        let mut receiver = LineReceiver::new(body, LinesOf::Batch, LIMITS, TIME)?;
        let mut all = Vec::new();
        while let Some(lines) = receiver.next().await? {
            all.extend(lines.iter().map(|line| (line.number, String::from_utf8(line.text.to_vec()).unwrap())));
        }
        Ok(all)
    }

    #[tokio::test]
    async fn lines_are_cut_wherever_chunks_are() {
        let text = "one\n\n \r\ntwo\r\nthree";
        let expected = [(1, "one\n"), (4, "two\r\n"), (5, "three")].map(|(line, text)| (line, text.to_owned()));
        for first in 0..text.len() {
            for second in first..text.len() {
                let body = chunks(&[&text[..first], &text[first..second], &text[second..]]);
                assert_eq!(all(body).await.unwrap(), expected, "{first} {second}");
            }
        }
        assert_eq!(all(Body::empty()).await.unwrap(), []);
    }

    #[tokio::test]
    async fn of_a_line_that_is_too_long_little_is_kept() {
        const FRAME: usize = 64 << 10;
        const FRAMES: usize = 1 << 10;
        let limits = BatchLimits { boards: 4, bytes: 256 << 20 };
        for (filler, text) in [(b'x', "x"), (b' ', "x"), (b' ', "")] {
            let frames = std::iter::repeat_n(Bytes::from(vec![filler; FRAME]), FRAMES);
            let frames = frames.chain([Bytes::from(text), Bytes::from("\n1230")]).map(Ok::<_, Infallible>);
            let body = Body::from_stream(iter(frames));
            let mut receiver = LineReceiver::new(body, LinesOf::Job, limits, Duration::from_secs(60)).unwrap();
            for _ in 0..=FRAMES {
                let frame = receiver.frame().await.unwrap().unwrap();
                assert!(receiver.append(&frame).unwrap().is_empty());
                assert!(receiver.rest.capacity() <= 2 * FRAME, "{}", receiver.rest.capacity());
            }
            let mut lines = Vec::new();
            while let Some(more) = receiver.next().await.unwrap() {
                lines.extend(more);
            }
            let last = lines.pop().unwrap();
            assert_eq!((last.number, &last.text[..]), (2, &b"1230"[..]));
            assert_eq!(lines.len(), usize::from(!text.is_empty()), "a blank line is no row");
            assert!(lines.iter().all(|line| line.number == 1 && line.text.len() > MAX_LINE));
        }
    }

    #[tokio::test]
    async fn a_body_has_limits_of_size_and_time() {
        let kind = async |body| all(body).await.unwrap_err().kind;
        assert_eq!(kind(Body::from("x".repeat(101))).await, ProblemKind::ContentTooLarge);
        assert_eq!(kind(chunks(&["x\n"; 51])).await, ProblemKind::ContentTooLarge);
        let stuck = iter(["1\n"]).map(Ok::<_, Infallible>).chain(pending());
        assert_eq!(kind(Body::from_stream(stuck)).await, ProblemKind::RequestTimeout);
        let cut = iter([Ok("1\n"), Err(std::io::Error::other("cut"))]);
        assert_eq!(kind(Body::from_stream(cut)).await, ProblemKind::MalformedJson);
    }
}
