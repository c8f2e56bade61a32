//! Reads request bodies into [`RequestFields`].

use std::pin::pin;

use axum::body::{Body, HttpBody};
use axum::extract::{FromRef, FromRequest, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use taquin_bulk::FieldError;
use taquin_bulk::fields::{FieldReader, WrittenFields, has_joined_rows, is_board_text};
use taquin_solver::Sides;
use tokio::task::JoinHandle;

use super::query;
use crate::http::problem::{Problem, ProblemKind};
use crate::http::state::HttpSettings;

/// The fields of a request, from the query string and the body.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct RequestFields {
    /// The query parameters in their order, including repeated ones.
    pub(crate) query: Vec<(String, String)>,
    /// The body of a POST; `None` for GET, or if the body is empty and the query has a board.
    pub(crate) body: Option<WrittenFields>,
}

impl<S> FromRequest<S> for RequestFields
where
    S: Send + Sync,
    HttpSettings: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let (head, body) = request.into_parts();
        Self::read(&head, body, HttpSettings::from_ref(state)).await
    }
}

/// Bodies above this size are parsed on the blocking pool, so that they do not delay the other connections of a thread.
/// A body of 16 MiB takes tens of milliseconds.
const LARGE: usize = 256 << 10;

impl RequestFields {
    /// A reader of the fields. See [`FieldReader::new`].
    pub(crate) fn reader(self, known: &[&str]) -> FieldReader {
        FieldReader::new(self.query, self.body, known)
    }

    /// Reads query string and body of a request, within the limits of size and time.
    pub(crate) async fn read(head: &Parts, body: Body, settings: HttpSettings) -> Result<Self, Problem> {
        let query = query::parse(head.uri.query().unwrap_or_default())?;
        if head.method != Method::POST {
            return Ok(Self { query, body: None });
        }
        let has_body = head.headers.contains_key(header::CONTENT_TYPE) || !body.is_end_stream();
        let format = if has_body { Format::of(&head.headers, settings)? } else { Format::Sniffed };
        let bytes = read(body, settings).await?;
        if bytes.is_empty() && query.iter().any(|(name, _)| name == "board") {
            return Ok(Self { query, body: None });
        }
        let body = if bytes.len() > LARGE { parse_aside(bytes, format).await? } else { parse_body(&bytes, format)? };
        Ok(Self { query, body: Some(body) })
    }
}

/// Parses a large body on the blocking pool.
async fn parse_aside(bytes: Bytes, format: Format) -> Result<WrittenFields, Problem> {
    let span = tracing::Span::current();
    let parse = move || span.in_scope(|| parse_body(&bytes, format));
    let mut parsing = AbortOnDrop(tokio::task::spawn_blocking(parse));
    (&mut parsing.0).await.unwrap_or_else(|error| {
        tracing::error!(target: "taquin::http::problem", %error, "a body was not parsed");
        Err(Problem::internal())
    })
}

/// Work that is skipped if its client has disconnected before it starts.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Parses a body. Its fields are not validated yet.
pub(crate) fn parse_body(bytes: &[u8], format: Format) -> Result<WrittenFields, Problem> {
    let text = std::str::from_utf8(bytes).map_err(|error| not_utf8(bytes, error.valid_up_to()))?;
    // Some editors and shells write a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_ascii().is_empty() {
        let detail = r#"The body is empty. Send JSON, such as {"board": "8 6 7/2 5 4/3 0 1"} to /solve."#;
        return Err(Problem::new(ProblemKind::MalformedJson, detail));
    }
    if format == Format::Sniffed
        && text.trim_ascii_start().starts_with(|c: char| c.is_ascii_alphabetic())
        && text.contains('=')
        && !is_board_text(text, Sides::default())
    {
        return Err(unsupported(A_FORM));
    }
    // Of boards as text, only arrays begin like JSON.
    let looks_like_json = text.trim_ascii_start().starts_with(['{', '[', '"']);
    if format != Format::Json && !looks_like_json && has_joined_rows(text) && !is_board_text(text, Sides::default()) {
        let error = FieldError::new("/board", "shape-unknown", "the board has no line ends between its rows");
        return Err(Problem::new(ProblemKind::InvalidBoard, NO_LINE_ENDS).with_errors(vec![error]));
    }
    match format {
        Format::Text if looks_like_json => Err(unsupported(JSON_AS_TEXT)),
        Format::Sniffed if !looks_like_json => Ok(WrittenFields::Text(text.to_owned())),
        Format::Text => Ok(WrittenFields::Text(text.to_owned())),
        Format::Json => Ok(WrittenFields::parse(text)?),
        Format::Sniffed => match WrittenFields::parse(text) {
            Err(_) if is_board_text(text, Sides::default()) => Ok(WrittenFields::Text(text.to_owned())),
            parsed => Ok(parsed?),
        },
    }
}

/// Format of a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    Json,
    /// A board as text. JSON is rejected.
    Text,
    /// JSON if the text looks like JSON, else text. The default types of `curl -d` and of `fetch` with a string say
    /// nothing about the body.
    Sniffed,
}

impl Format {
    /// The media types of bodies, as a list for a header.
    pub(crate) const fn media_types(is_strict: bool) -> &'static str {
        if is_strict {
            "application/json, text/plain"
        } else {
            "application/json, text/plain, application/x-www-form-urlencoded"
        }
    }

    fn of(headers: &HeaderMap, settings: HttpSettings) -> Result<Self, Problem> {
        let essence = essence(headers, unsupported, NO_TYPE)?;
        let is = |name: &str| essence.eq_ignore_ascii_case(name);
        match settings.strict_content_type {
            _ if is(USUAL) => Ok(Self::Json),
            true if is("text/plain") => Ok(Self::Text),
            false if is("text/plain") || is("application/x-www-form-urlencoded") => Ok(Self::Sniffed),
            _ => Err(unsupported(WRONG_TYPE)),
        }
    }
}

/// The media type of most bodies, which is not searched for parameters.
const USUAL: &str = "application/json";

/// The media type of a body without its parameters.
///
/// # Errors
/// The problem of a coding, of a charset other than UTF-8, or of a type that is missing or given twice, created by
/// `unsupported`.
pub(crate) fn essence<'h>(
    headers: &'h HeaderMap,
    unsupported: impl Fn(&str) -> Problem,
    no_type: &str,
) -> Result<&'h str, Problem> {
    let codings =
        headers.get_all(header::CONTENT_ENCODING).iter().flat_map(|line| line.as_bytes().split(|b| *b == b','));
    if codings.map(<[u8]>::trim_ascii).any(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity")) {
        return Err(unsupported("`Content-Encoding` is not supported. Send the body uncompressed."));
    }
    let mut types = headers.get_all(header::CONTENT_TYPE).iter();
    let Some(media_type) = types.next() else { return Err(unsupported(no_type)) };
    if types.next().is_some() {
        return Err(unsupported("The request has more than one `Content-Type`."));
    }
    let media_type = media_type.to_str().unwrap_or_default();
    if media_type == USUAL {
        return Ok(USUAL);
    }
    match media_type.split_once(';') {
        None => Ok(media_type.trim()),
        Some((essence, parameters)) if is_utf8(parameters) => Ok(essence.trim()),
        Some(_) => Err(unsupported("The only supported charset is UTF-8.")),
    }
}

const A_FORM: &str = "The body is an HTML form, which is not supported. With curl, send JSON with `curl --json`, a \
                      board alone with `curl -d '8 6 7/2 5 4/3 0 1'`, or the fields in the query with `curl -G \
                      --data-urlencode`.";
const JSON_AS_TEXT: &str = "The body is JSON, but its `Content-Type` is text/plain. Send it as application/json: with \
                            `fetch`, set `headers: {'Content-Type': 'application/json'}`; with curl, use `curl --json`.";
const NO_LINE_ENDS: &str = "The line ends of the board are missing: the last cell of each row and the first cell of the \
                            next row have become one. `curl -d @FILE` removes line ends. Send the file with \
                            `--data-binary @FILE` and `-H 'Content-Type: text/plain'`.";
const NO_TYPE: &str = "The body has no `Content-Type`. With curl, send JSON with `curl --json`.";
const WRONG_TYPE: &str = "The body is neither application/json nor text/plain (a board as text). With curl, send \
                          JSON with `curl --json '{\"board\": \"8 6 7/2 5 4/3 0 1\"}' URL`.";

fn unsupported(detail: &str) -> Problem {
    Problem::new(ProblemKind::UnsupportedMediaType, detail)
        .with_header(header::ACCEPT, header::HeaderValue::from_static("application/json, text/plain"))
}

/// True if the parameters of a media type have no charset, or a subset of UTF-8.
fn is_utf8(parameters: &str) -> bool {
    parameters.split(';').filter_map(|parameter| parameter.split_once('=')).all(|(name, value)| {
        let value = value.trim().trim_matches('"');
        !name.trim().eq_ignore_ascii_case("charset")
            || ["utf-8", "utf8", "us-ascii"].iter().any(|known| value.eq_ignore_ascii_case(known))
    })
}

fn not_utf8(bytes: &[u8], valid_up_to: usize) -> Problem {
    let before = &bytes[..valid_up_to];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
    let detail = format!("The body is not valid UTF-8 at line {line}, column {column}, counted in bytes.");
    Problem::new(ProblemKind::MalformedJson, detail)
}

/// Reads a body within the limits of size and time.
async fn read(body: Body, settings: HttpSettings) -> Result<Bytes, Problem> {
    let HttpSettings { max_body, body_timeout, .. } = settings;
    let too_large = || {
        let detail = format!("The body exceeds the maximum of {max_body} bytes.");
        Problem::new(ProblemKind::ContentTooLarge, detail)
    };
    // Reject before the first byte, so that a client that waits for `100 Continue` does not send the body.
    if body.size_hint().lower() > max_body as u64 {
        return Err(too_large());
    }
    let mut collected = pin!(collect(Limited::new(body, max_body)));
    // Most bodies are available at once and need no timer.
    let in_time = match collected.as_mut().now_or_never() {
        Some(bytes) => Ok(bytes),
        None => tokio::time::timeout(body_timeout, collected).await,
    };
    match in_time {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => {
            Err(Problem::new(ProblemKind::MalformedJson, "The body is incomplete, or its framing is not valid."))
        }
        Err(_) => {
            let detail = format!("The body did not arrive in full within {} s.", body_timeout.as_secs_f64());
            Err(Problem::new(ProblemKind::RequestTimeout, detail))
        }
    }
}

/// Copies the frames of a body into one buffer, unless there is only one frame. Storing the frames would take many
/// times the size of a body that arrives byte by byte.
async fn collect(mut body: Limited<Body>) -> Result<Bytes, <Limited<Body> as HttpBody>::Error> {
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        if bytes.is_empty() && body.is_end_stream() {
            return Ok(data);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.freeze())
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::sync::mpsc::channel;
    use std::task::{Context, Poll};
    use std::time::Duration;

    use hyper::body::Frame;
    use taquin_bulk::fields::Json;
    use tokio::runtime::Builder;
    use tokio::task::spawn_blocking;

    use super::*;
    use crate::http::state::BatchLimits;

    const LENIENT: HttpSettings = HttpSettings {
        max_body: 64,
        body_timeout: Duration::from_millis(20),
        strict_content_type: false,
        traces: false,
        batch: BatchLimits { boards: 1, bytes: 1 },
    };
    const STRICT: HttpSettings = HttpSettings { strict_content_type: true, ..LENIENT };
    const BOARD: &str = "8 6 7/2 5 4/3 0 1";
    const FORM: &str = "application/x-www-form-urlencoded";

    async fn ask(content_type: &str, body: impl Into<Body>, settings: HttpSettings) -> Result<RequestFields, Problem> {
        let mut request = Request::post("/solve").body(body.into()).unwrap();
        if !content_type.is_empty() {
            request.headers_mut().insert(header::CONTENT_TYPE, content_type.parse().unwrap());
        }
        RequestFields::from_request(request, &settings).await
    }

    async fn body_of(content_type: &str, body: &'static str) -> WrittenFields {
        ask(content_type, body, LENIENT).await.unwrap().body.unwrap()
    }

    async fn kind_of(content_type: &str, body: impl Into<Body>, settings: HttpSettings) -> ProblemKind {
        ask(content_type, body, settings).await.unwrap_err().kind
    }

    #[tokio::test]
    async fn the_content_type_decides_how_a_body_is_read() {
        for json in ["application/json", "Application/JSON; charset=UTF-8"] {
            assert_eq!(body_of(json, "[1]").await, WrittenFields::Json(Json::Array(vec![Json::Integer(1)])));
        }
        assert_eq!(body_of("text/plain;charset=us-ascii", BOARD).await, WrittenFields::Text(BOARD.to_owned()));
    }

    #[tokio::test]
    async fn a_body_of_a_default_type_is_read_by_its_looks() {
        for content_type in [FORM, "text/plain", "text/plain;charset=UTF-8"] {
            assert_eq!(body_of(content_type, " {}").await, WrittenFields::Json(Json::Object(vec![])));
            assert_eq!(body_of(content_type, "[1]").await, WrittenFields::Json(Json::Array(vec![Json::Integer(1)])));
            assert_eq!(body_of(content_type, "\"1 0\"").await, WrittenFields::Json(Json::String("1 0".to_owned())));
            assert_eq!(body_of(content_type, BOARD).await, WrittenFields::Text(BOARD.to_owned()));
            assert_eq!(kind_of(content_type, "board=867254301", LENIENT).await, ProblemKind::UnsupportedMediaType);
        }
    }

    #[tokio::test]
    async fn a_strict_service_names_the_right_type() {
        assert_eq!(kind_of(FORM, BOARD, STRICT).await, ProblemKind::UnsupportedMediaType);
        assert!(ask("text/plain", BOARD, STRICT).await.is_ok());
        for json in ["{}", " [1]", "\"1 0\""] {
            let problem = ask("text/plain", json, STRICT).await.unwrap_err();
            assert_eq!(problem.kind, ProblemKind::UnsupportedMediaType);
            assert!(problem.detail.contains("as application/json"), "{}", problem.detail);
        }
    }

    #[tokio::test]
    async fn the_listed_media_types_are_those_of_accepted_bodies() {
        for settings in [LENIENT, STRICT] {
            let listed: Vec<_> = Format::media_types(settings.strict_content_type).split(", ").collect();
            for media_type in ["application/json", "text/plain", FORM, "text/html", "multipart/form-data"] {
                let body = if media_type == "application/json" { "[1]" } else { BOARD };
                let is_accepted = ask(media_type, body, settings).await.is_ok();
                assert_eq!(listed.contains(&media_type), is_accepted, "{media_type}: {listed:?}");
            }
        }
    }

    #[tokio::test]
    async fn all_content_codings_are_read() {
        for (codings, is_accepted) in [
            (&["identity"][..], true),
            (&["identity", "Identity"], true),
            (&["gzip"], false),
            (&["identity", "gzip"], false),
            (&["identity, br"], false),
        ] {
            let mut request = Request::post("/solve").header(header::CONTENT_TYPE, "text/plain");
            for coding in codings {
                request = request.header(header::CONTENT_ENCODING, *coding);
            }
            let read = RequestFields::from_request(request.body(Body::from(BOARD)).unwrap(), &LENIENT).await;
            assert_eq!(read.is_ok(), is_accepted, "{codings:?}");
        }
    }

    #[tokio::test]
    async fn other_types_and_charsets_are_rejected_with_advice() {
        for content_type in [
            "",
            "application/vnd.api+json",
            "text/html",
            "multipart/form-data; boundary=x",
            "json",
            "text/plain; charset=latin1",
        ] {
            assert_eq!(kind_of(content_type, "{}", LENIENT).await, ProblemKind::UnsupportedMediaType, "{content_type}");
        }
        let problem = ask("text/xml", "{}", LENIENT).await.unwrap_err();
        assert!(problem.detail.contains("curl --json"), "{}", problem.detail);
    }

    #[tokio::test]
    async fn empty_and_foreign_bytes_are_malformed() {
        for body in [Body::empty(), Body::from(" \n"), Body::from(&b"[1,\n\xff"[..]), Body::from("\u{feff}")] {
            assert_eq!(kind_of("application/json", body, LENIENT).await, ProblemKind::MalformedJson);
        }
        assert!(ask("", "", LENIENT).await.unwrap_err().detail.contains(r#"{"board":"#));
        let detail = ask("text/plain", &b"1\n23\xff"[..], LENIENT).await.unwrap_err().detail;
        assert!(detail.contains("line 2, column 3"), "{detail}");
    }

    #[tokio::test]
    async fn a_byte_order_mark_is_passed_over() {
        assert_eq!(body_of("application/json", "\u{feff}1").await, WrittenFields::Json(Json::Integer(1)));
    }

    #[tokio::test]
    async fn a_post_may_ask_by_its_query_alone() {
        let request = Request::post("/solve?board=867254301").body(Body::empty()).unwrap();
        let input = RequestFields::from_request(request, &LENIENT).await.unwrap();
        assert_eq!((input.query.len(), input.body), (1, None));
    }

    #[tokio::test]
    async fn a_body_is_read_up_to_its_limit_announced_or_not() {
        assert!(ask("text/plain", "1".repeat(64), LENIENT).await.is_ok());
        assert_eq!(kind_of("text/plain", "1".repeat(65), LENIENT).await, ProblemKind::ContentTooLarge);
        let unannounced = Body::new(Chunks(3));
        assert_eq!(kind_of("text/plain", unannounced, LENIENT).await, ProblemKind::ContentTooLarge);
    }

    #[test]
    fn a_large_body_is_parsed_aside() {
        const ROOMY: HttpSettings = HttpSettings { max_body: 4 * LARGE, ..LENIENT };
        let runtime = Builder::new_current_thread().max_blocking_threads(1).enable_time().build().unwrap();
        runtime.block_on(async {
            for (length, is_aside) in [(LARGE, false), (LARGE + 1, true)] {
                // The only thread for work aside is busy until the request has been asked for once.
                let (free, is_free) = channel();
                let busy = spawn_blocking(move || is_free.recv());
                let board = format!("[[1,2],[3,0]]{}", " ".repeat(length - 13));
                let mut asked = pin!(ask("application/json", board, ROOMY));
                let at_once = asked.as_mut().now_or_never();
                assert_eq!(at_once.is_none(), is_aside, "{length} bytes");
                free.send(()).unwrap();
                busy.await.unwrap().unwrap();
                let read = match at_once {
                    Some(read) => read,
                    None => asked.await,
                };
                assert!(matches!(read.unwrap().body, Some(WrittenFields::Board(_))));
            }
            let problem = ask("application/json", "0".repeat(LARGE + 1), ROOMY).await.unwrap_err();
            assert_eq!(problem.kind, ProblemKind::MalformedJson);
        });
    }

    #[tokio::test]
    async fn a_body_that_never_ends_times_out() {
        let silent = Body::new(Chunks(usize::MAX));
        assert_eq!(kind_of("text/plain", silent, LENIENT).await, ProblemKind::RequestTimeout);
    }

    /// A body of this number of chunks of 30 bytes; `usize::MAX` stands for a client that sends nothing.
    struct Chunks(usize);

    impl HttpBody for Chunks {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            let left = &mut self.get_mut().0;
            match *left {
                usize::MAX => Poll::Pending,
                0 => Poll::Ready(None),
                _ => {
                    *left -= 1;
                    Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b'1'; 30])))))
                }
            }
        }
    }
}
