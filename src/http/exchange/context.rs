//! Identifiers of a request in responses, logs and traces.

use std::cell::RefCell;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::{HeaderMap, HeaderName, HeaderValue, Request};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use tower_http::request_id::{MakeRequestId, RequestId};

/// The header with the request id, in requests and responses.
pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The request header of W3C Trace Context.
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Identifiers of a request.
#[derive(Clone, Debug)]
pub(crate) struct RequestContext {
    /// The client's id if valid, else a random id.
    pub(super) request_id: Option<RequestId>,
    /// Trace id of a valid `traceparent`, or of a trace that starts here: 32 lower-case hexadecimal digits.
    pub(crate) trace_id: Option<Box<str>>,
    /// Id of the request's span, if it is sampled: 16 lower-case hexadecimal digits.
    pub(crate) span_id: Option<Box<str>>,
}

impl RequestContext {
    /// Reads the identifiers of a request, whose id an outer layer has set.
    pub(crate) fn read<B>(request: &Request<B>) -> Self {
        let request_id = request.extensions().get().cloned();
        let trace_id = Traceparent::read(request.headers()).map(|parent| parent.trace_id.into());
        Self { request_id, trace_id, span_id: None }
    }

    /// The request id as text.
    pub(crate) fn request_id(&self) -> &str {
        self.request_id.as_ref().and_then(|id| id.header_value().to_str().ok()).unwrap_or_default()
    }
}

/// Removes request ids other than exactly one of 1 to 128 characters of `A–Z a–z 0–9 . _ : -`.
pub(crate) fn remove_invalid_id<B>(request: &mut Request<B>) {
    const MAX_LENGTH: usize = 128;
    let is_plain = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b':' | b'-');
    let is_valid = |id: &HeaderValue| (1..=MAX_LENGTH).contains(&id.len()) && id.as_bytes().iter().all(is_plain);
    let mut ids = request.headers().get_all(X_REQUEST_ID).iter();
    if ids.next().is_some_and(|id| !is_valid(id) || ids.next().is_some()) {
        request.headers_mut().remove(X_REQUEST_ID);
    }
}

/// Makes request ids of 128 random bits in hexadecimal. Each thread takes one seed from the system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RandomId;

impl MakeRequestId for RandomId {
    fn make_request_id<B>(&mut self, _: &Request<B>) -> Option<RequestId> {
        thread_local! {
            static SOURCE: RefCell<ChaCha8Rng> = RefCell::new(ChaCha8Rng::from_seed(seed()));
        }
        let mut random = [0; 16];
        SOURCE.with_borrow_mut(|source| source.fill_bytes(&mut random));
        let digits = random.map(|byte| HEX[usize::from(byte)]);
        HeaderValue::from_bytes(digits.as_flattened()).ok().map(RequestId::new)
    }
}

/// The two hexadecimal digits of each byte.
const HEX: [[u8; 2]; 256] = {
    let digits = b"0123456789abcdef";
    let mut pairs = [[0; 2]; 256];
    let mut byte = 0;
    while byte < pairs.len() {
        pairs[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    pairs
};

/// Seed of the ids. Ids must be unique, not secret, so the clock is good enough if the system has no randomness.
fn seed() -> [u8; 32] {
    let mut seed = [0; 32];
    if getrandom::fill(&mut seed).is_err() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        seed[..16].copy_from_slice(&now.to_le_bytes());
        let stack = std::ptr::from_ref(&now).addr() as u64;
        seed[16..24].copy_from_slice(&stack.to_le_bytes());
    }
    seed
}

/// Fields of a W3C `traceparent`, in hexadecimal digits.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "otel"), expect(dead_code, reason = "only spans need more than the trace id"))]
pub(crate) struct Traceparent<'h> {
    pub(crate) trace_id: &'h str,
    pub(crate) parent_id: &'h str,
    pub(crate) flags: &'h str,
}

impl<'h> Traceparent<'h> {
    pub(crate) fn read(headers: &'h HeaderMap) -> Option<Self> {
        Self::parse(only(headers, &TRACEPARENT)?)
    }

    /// Parses a `traceparent` (W3C Trace Context 1). Version 00 has exactly four fields; later versions may append
    /// fields; version ff is invalid.
    fn parse(header: &'h str) -> Option<Self> {
        let mut fields = header.splitn(5, '-');
        let [version, trace_id, parent_id, flags] = std::array::from_fn(|_| fields.next().unwrap_or_default());
        let has_more = fields.next().is_some();
        let is_valid = is_hex(version, 2)
            && version != "ff"
            && is_hex(trace_id, 32)
            && trace_id.bytes().any(|b| b != b'0')
            && is_hex(parent_id, 16)
            && parent_id.bytes().any(|b| b != b'0')
            && is_hex(flags, 2)
            && !(version == "00" && has_more);
        is_valid.then_some(Self { trace_id, parent_id, flags })
    }
}

fn is_hex(field: &str, length: usize) -> bool {
    field.len() == length && field.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// The value of a header that occurs exactly once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::http::Response;
    use tower::{ServiceBuilder, ServiceExt as _};
    use tower_http::request_id::SetRequestIdLayer;

    use super::*;

    /// The id that a request with these headers has in the end.
    async fn id_of(values: &[&str]) -> String {
        let layers = ServiceBuilder::new().layer(SetRequestIdLayer::x_request_id(RandomId));
        let respond = async |request: Request<()>| {
            Ok::<_, Infallible>(Response::new(RequestContext::read(&request).request_id().to_owned()))
        };
        let request = values.iter().fold(Request::builder(), |request, value| request.header(X_REQUEST_ID, *value));
        let mut request = request.body(()).unwrap();
        remove_invalid_id(&mut request);
        layers.service_fn(respond).oneshot(request).await.unwrap().into_body()
    }

    #[tokio::test]
    async fn a_valid_request_id_is_kept() {
        for id in ["a", "A-b_c:d.9", &"x".repeat(128)] {
            assert_eq!(id_of(&[id]).await, id);
        }
    }

    #[tokio::test]
    async fn any_other_request_id_is_replaced() {
        let long = "x".repeat(129);
        for ids in [&[][..], &[""], &["a b"], &["ü"], &["a\"b"], &["a/b"], &[&long], &["a", "b"], &["a", "a"]] {
            let id = id_of(ids).await;
            assert!(is_hex(&id, 32), "{ids:?}: {id}");
        }
    }

    #[test]
    fn random_ids_have_32_digits_and_differ_within_and_between_threads() {
        let id = || RandomId.make_request_id(&Request::new(())).unwrap();
        let ids = move || (0..100).map(|_| id().header_value().to_str().unwrap().to_owned()).collect::<Vec<_>>();
        let mut all = [ids(), std::thread::spawn(ids).join().unwrap()].concat();
        assert!(all.iter().all(|id| is_hex(id, 32)));
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 200);
    }

    #[test]
    fn a_valid_traceparent_gives_its_trace_id() {
        let id = "0af7651916cd43dd8448eb211c80319c";
        for header in [format!("00-{id}-b7ad6b7169203331-01"), format!("cc-{id}-b7ad6b7169203331-01-what-else")] {
            assert_eq!(Traceparent::parse(&header).unwrap().trace_id, id);
        }
    }

    #[test]
    fn an_invalid_traceparent_is_ignored() {
        let (id, zero) = ("0af7651916cd43dd8448eb211c80319c", "0".repeat(32));
        for header in [
            String::new(),
            format!("ff-{id}-b7ad6b7169203331-01"),
            format!("00-{zero}-b7ad6b7169203331-01"),
            format!("00-{id}-0000000000000000-01"),
            format!("00-{}-b7ad6b7169203331-01", id.to_uppercase()),
            format!("00-{id}-b7ad6b7169203331-01-more"),
            format!("00-{id}-b7ad6b7169203331-0"),
            format!("00-{id}-b7ad6b7169203331"),
            format!(" 00-{id}-b7ad6b7169203331-01"),
        ] {
            assert!(Traceparent::parse(&header).is_none(), "{header}");
        }
    }
}
