//! Tests of the guards through the whole router.

use std::num::NonZeroU32;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode};
use parking_lot::Mutex;
use tower::ServiceExt as _;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

use super::*;
use crate::http::router::HttpService;
use crate::http::routes::ROUTES;
use crate::http::tests::{service, services};

const TOKEN: &str = "abcdefghijklmnop";
const WITH_TOKEN: (&str, &str) = ("authorization", "Bearer abcdefghijklmnop");

fn guards() -> Guards {
    Guards { tokens: Tokens::new([TOKEN]), ..Guards::default() }
}

fn rate(requests: u32) -> Option<Rate> {
    let requests = NonZeroU32::new(requests).unwrap();
    Some(Rate { requests, period: Duration::from_secs(3600), burst: requests })
}

struct Asked {
    status: StatusCode,
    headers: HeaderMap,
}

impl Asked {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// Sends the request `METHOD path` from a peer address.
async fn ask_from(peer: [u8; 4], router: &HttpService, line: &str, headers: &[(&str, &str)]) -> Asked {
    let (method, path) = line.split_once(' ').unwrap();
    let peer = ConnectInfo(SocketAddr::from((peer, 4711)));
    let mut request = Request::builder().method(method).uri(path).extension(peer);
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        request = request.header("host", "x");
    }
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    let response = router.for_connection().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    Asked { status: response.status(), headers: response.headers().clone() }
}

async fn ask(router: &HttpService, line: &str, headers: &[(&str, &str)]) -> Asked {
    ask_from([192, 0, 2, 1], router, line, headers).await
}

fn guarded(guards: &Guards) -> HttpService {
    services(&service(), guards).main
}

#[test]
fn guards_that_are_off_are_no_gate() {
    let gate = |guards: &Guards| Gate::new(guards, &Metrics::default(), &Routes::main(&ROUTES));
    assert!(gate(&Guards::default()).is_none());
    assert!(gate(&Guards { trusted_proxies: 1, ..Guards::default() }).is_none());
    assert!(cors::layer(&[]).is_none());
    assert!(gate(&guards()).is_some());
    assert!(gate(&Guards { rate: rate(1), ..Guards::default() }).is_some());
}

#[tokio::test]
async fn tokens_are_required_except_on_open_routes() {
    let router = guarded(&guards());
    for line in [
        "GET /",
        "GET /livez",
        "GET /healthz",
        "GET /metrics",
        "GET /openapi.yaml",
        "GET /problems/internal",
        "HEAD /openapi.json",
    ] {
        assert_eq!(ask(&router, line, &[]).await.status, 200, "{line}");
    }
    assert_eq!(ask(&router, "GET /problems/internal", &[]).await.status, 200);
    assert_eq!(ask(&router, "GET /problems/nothing", &[]).await.status, 404);
    assert_eq!(ask(&router, "POST /livez", &[]).await.status, 405);
    assert_eq!(ask(&router, "OPTIONS /solve", &[]).await.status, 204);
    let closed = ["GET /solve", "POST /solve", "HEAD /solve", "GET /solvable", "GET /random", "GET /info"];
    for line in closed.into_iter().chain(["DELETE /solve", "GET /nowhere", "GET /solve/", "GET //"]) {
        let refused = ask(&router, line, &[]).await;
        assert_eq!(
            (refused.status.as_u16(), refused.header("www-authenticate")),
            (401, "Bearer realm=\"taquin\""),
            "{line}"
        );
        assert_eq!((refused.header("cache-control"), refused.header("x-request-id").len()), ("no-store", 32), "{line}");
        assert_ne!(ask(&router, line, &[WITH_TOKEN]).await.status, 401, "{line}");
    }
}

#[tokio::test]
async fn every_documented_route_requires_a_token_or_is_open() {
    let router = guarded(&guards());
    let contract = include_str!("../../../openapi.yaml");
    let paths = contract.lines().filter_map(|line| line.strip_prefix("  /")?.strip_suffix(':'));
    let open: Vec<&str> = ROUTES.iter().filter(|route| route.access == Access::Open).map(|route| route.path).collect();
    let mut asked = 0;
    for path in paths.map(|path| format!("/{path}")) {
        asked += 1;
        let answer = ask(&router, &format!("GET {}", path.replace("{slug}", "internal")), &[]).await;
        assert_eq!(answer.status != 401, open.contains(&path.as_str()), "{path}");
    }
    assert!(asked >= 11, "{asked}");
}

#[tokio::test]
async fn each_client_has_a_quota_on_counted_routes() {
    let router = guarded(&Guards { rate: rate(3), ..Guards::default() });
    for line in ["GET /random", "GET /solvable?board=123456780", "POST /solve"] {
        assert_ne!(ask(&router, line, &[]).await.status, 429, "{line}");
    }
    for line in ["GET /random", "POST /solvable", "HEAD /solve", "DELETE /solve"] {
        let refused = ask(&router, line, &[]).await;
        assert_eq!((refused.status.as_u16(), refused.header("retry-after")), (429, "1200"), "{line}");
    }
    for line in ["GET /", "GET /livez", "GET /openapi.yaml", "GET /problems/internal", "GET /info", "OPTIONS /solve"] {
        assert!(ask(&router, line, &[]).await.status.is_success(), "{line}");
    }
    assert_eq!(ask(&router, "GET /nowhere", &[]).await.status, 404);
    assert_eq!(ask_from([192, 0, 2, 2], &router, "GET /random", &[]).await.status, 200, "another client");
}

#[tokio::test]
async fn a_forwarded_address_counts_behind_a_trusted_proxy() {
    let by = |address: &'static str| [("x-forwarded-for", address)];
    let router = guarded(&Guards { rate: rate(1), ..Guards::default() });
    assert_eq!(ask(&router, "GET /random", &by("203.0.113.1")).await.status, 200);
    assert_eq!(ask(&router, "GET /random", &by("203.0.113.2")).await.status, 429, "the peer is the same");

    let router = guarded(&Guards { rate: rate(1), trusted_proxies: 1, ..Guards::default() });
    assert_eq!(ask(&router, "GET /random", &by("203.0.113.1")).await.status, 200);
    assert_eq!(ask(&router, "GET /random", &by("203.0.113.2")).await.status, 200);
    assert_eq!(ask(&router, "GET /random", &by("203.0.113.9, 203.0.113.2")).await.status, 429, "what a client adds");
    assert_eq!(ask(&router, "GET /random", &[]).await.status, 200, "the peer itself");
    assert_eq!(ask(&router, "GET /random", &by("203.0.113.3, garbage")).await.status, 429, "the peer again");
}

#[tokio::test]
async fn requests_without_a_token_use_no_quota() {
    let router = guarded(&Guards { rate: rate(1), ..guards() });
    for _ in 0..5 {
        assert_eq!(ask(&router, "GET /random", &[]).await.status, 401);
    }
    assert_eq!(ask(&router, "GET /random", &[WITH_TOKEN]).await.status, 200);
    assert_eq!(ask(&router, "GET /random", &[WITH_TOKEN]).await.status, 429);
}

const ORIGIN: &str = "https://example.org";

fn shared_with(origins: &[&str]) -> HttpService {
    let cors_origins = origins.iter().map(|origin| (*origin).to_owned()).collect();
    guarded(&Guards { rate: rate(2), cors_origins, ..guards() })
}

#[tokio::test]
async fn a_preflight_needs_neither_token_nor_quota() {
    let router = shared_with(&[ORIGIN, "http://localhost:3000"]);
    for _ in 0..5 {
        let asks = [
            ("origin", ORIGIN),
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", "authorization,content-type"),
        ];
        let answer = ask(&router, "OPTIONS /solve", &asks).await;
        assert_eq!((answer.status.as_u16(), answer.header("access-control-allow-origin")), (204, ORIGIN));
        assert_eq!(answer.header("access-control-allow-methods"), "GET,HEAD,POST,DELETE,OPTIONS");
        let headers = answer.header("access-control-allow-headers");
        assert_eq!(
            headers,
            "accept,authorization,content-digest,content-type,if-match,if-none-match,if-range,idempotency-key,last-event-id,prefer,range,traceparent,tracestate,x-request-id"
        );
        assert_eq!(answer.header("access-control-max-age"), "3600");
        assert_eq!(answer.header("access-control-allow-credentials"), "");
        assert_eq!(answer.header("vary"), "Accept, origin");
        assert_eq!(answer.header("x-request-id").len(), 32);
    }
}

#[tokio::test]
async fn pages_of_allowed_origins_can_read_error_responses() {
    let router = shared_with(&[ORIGIN]);
    let from = ("origin", ORIGIN);
    let statuses = [401, 400, 422, 429];
    let asked = [
        ask(&router, "GET /solve", &[from]).await,
        ask(&router, "GET /solve", &[from, WITH_TOKEN]).await,
        ask(&router, "GET /solve?board=123456778", &[from, WITH_TOKEN]).await,
        ask(&router, "GET /solve", &[from, WITH_TOKEN]).await,
    ];
    for (asked, status) in asked.iter().zip(statuses) {
        assert_eq!((asked.status.as_u16(), asked.header("access-control-allow-origin")), (status, ORIGIN));
        assert_eq!(
            asked.header("access-control-expose-headers"),
            "content-range,etag,location,preference-applied,retry-after,server-timing,traceresponse,x-request-id,\
             x-taquin-seed"
        );
        assert_eq!(asked.header("vary"), "Accept, origin");
    }
}

#[tokio::test]
async fn other_origins_get_no_cors_headers_and_responses_vary() {
    let router = shared_with(&[ORIGIN]);
    for headers in [&[][..], &[("origin", "https://example.com")], &[("origin", "null")]] {
        let answer = ask(&router, "GET /problems/internal", headers).await;
        assert_eq!((answer.status.as_u16(), answer.header("access-control-allow-origin")), (200, ""), "{headers:?}");
        assert_eq!(answer.header("vary"), "Accept, origin", "{headers:?}");
    }
    let everybody = shared_with(&["*"]);
    let answer = ask(&everybody, "GET /problems/internal", &[("origin", "https://example.com")]).await;
    assert_eq!((answer.header("access-control-allow-origin"), answer.header("vary")), ("*", "Accept"));
}

#[tokio::test]
async fn options_without_preflight_headers_reaches_the_route() {
    let router = shared_with(&[ORIGIN]);
    for headers in [&[][..], &[("origin", ORIGIN)], &[("access-control-request-method", "POST")]] {
        let answer = ask(&router, "OPTIONS /info", headers).await;
        assert_eq!((answer.status.as_u16(), answer.header("allow")), (204, "GET, HEAD, OPTIONS"), "{headers:?}");
    }
    assert_eq!(ask(&router, "OPTIONS /nowhere", &[]).await.status, 404);
}

/// Captures all log lines and spans of all levels.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Visit for Log {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.lock().push_str(&format!("{field}={value:?} "));
    }
}

impl<S: tracing::Subscriber> Layer<S> for Log {
    fn on_new_span(&self, span: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        span.record(&mut self.clone());
    }

    fn on_record(&self, _: &Id, values: &Record<'_>, _: Context<'_, S>) {
        values.record(&mut self.clone());
    }

    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        event.record(&mut self.clone());
    }
}

#[tokio::test]
async fn no_token_is_ever_logged() {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(log.clone()));
    let router = guarded(&guards());
    for token in [TOKEN, "wrong-abcdefghijklmnop", "abcdefghijklm"] {
        let header = format!("Bearer {token}");
        ask(&router, "GET /random", &[("authorization", &header)]).await;
        ask(&router, "GET /nowhere", &[("authorization", &header), ("authorization", &header)]).await;
    }
    let log = log.0.lock();
    assert!(log.contains("http.status=401") && log.contains("http.status=200"), "{log}");
    assert!(!log.contains("abcdefghijklm"), "{log}");
}
