//! Behavior common to all routes, tested through the whole router.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;
use http_body_util::BodyExt;
use prometheus_client::registry::Registry;
use serde_json::Value;
use tower::ServiceExt as _;

use super::exchange::HttpMetrics;
use super::guard::Guards;
use super::problem::ProblemKind;
use super::router::{HttpService, HttpServices};
use super::routes::ROUTES;
use super::routes_table::Routes;
use super::state::{BatchLimits, HttpSettings, Site};

use crate::service::{Service, ServiceSettings};

const SETTINGS: HttpSettings = HttpSettings {
    max_body: 1024,
    body_timeout: Duration::from_secs(1),
    strict_content_type: false,
    traces: false,
    batch: BatchLimits { boards: 10, bytes: 1024 },
};

pub(crate) fn service() -> Arc<Service> {
    Service::start(ServiceSettings {
        workers: 1,
        default_time: Duration::from_secs(1),
        max_time: Duration::from_secs(1),
        ..ServiceSettings::for_tests()
    })
}

struct Answer {
    status: u16,
    headers: HeaderMap,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

pub(crate) fn services(service: &Arc<Service>, guards: &Guards) -> HttpServices {
    HttpServices::new(service, None, SETTINGS, Site::default(), guards, Registry::default())
}

fn unguarded(service: &Arc<Service>) -> HttpService {
    services(service, &Guards::default()).main
}

/// Returns a service with other handlers for the routes of the table.
pub(crate) fn serving(router: Router) -> HttpService {
    let metrics = HttpMetrics::new(&mut Registry::default(), std::iter::empty());
    HttpService::new(router, Routes::main(&ROUTES), &Guards::default(), metrics, service(), false)
}

async fn answer_of(router: HttpService, request: Request) -> Answer {
    let response = router.for_connection().oneshot(request).await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body = response.into_body().collect().await.unwrap().to_bytes();
    Answer { status, headers, body: String::from_utf8(body.to_vec()).unwrap() }
}

/// Sends a request that is written `METHOD path`, with headers.
async fn send(line: &str, headers: &[(&str, &str)]) -> Answer {
    answer_of(unguarded(&service()), request(line, headers)).await
}

fn request(line: &str, headers: &[(&str, &str)]) -> Request {
    let (method, path) = line.split_once(' ').unwrap();
    let mut builder = Request::builder().method(method).uri(path);
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        builder = builder.header("host", "x");
    }
    headers.iter().fold(builder, |builder, (name, value)| builder.header(*name, *value)).body(Body::empty()).unwrap()
}

#[tokio::test]
async fn an_unknown_path_is_a_problem_document() {
    let answer = send("GET /nowhere?x=1", &[("x-request-id", "abc")]).await;
    assert_eq!(answer.status, 404);
    assert_eq!(answer.header("content-type"), "application/problem+json");
    let json = answer.json();
    assert_eq!(json["type"], "/problems/not-found");
    assert_eq!(json["status"], 404);
    assert_eq!(json["instance"], "/nowhere");
    assert_eq!(json["request_id"], "abc");
}

#[tokio::test]
async fn the_paths_in_a_problem_begin_with_the_base_path() {
    let site = Site { base_path: "/taquin".to_owned(), ..Site::default() };
    let service = service();
    let main = HttpServices::new(&service, None, SETTINGS, site, &Guards::default(), Registry::default()).main;
    for (path, prefix) in [("/taquin/Solve", "/taquin"), ("/Solve", "")] {
        let problem = answer_of(main.clone(), request(&format!("GET {path}"), &[])).await.json();
        assert_eq!(problem["suggestion"], format!("{prefix}/solve"), "{path}");
        let detail = problem["detail"].as_str().unwrap();
        for expected in ["did you mean `{}/solve`?", "`GET {}/` shows", "`{}/openapi.yaml` describes"] {
            assert!(detail.contains(&expected.replace("{}", prefix)), "{path}: {detail}");
        }
    }
}

#[tokio::test]
async fn a_problem_is_text_if_accept_asks_for_text() {
    let answer = send("GET /nowhere", &[("accept", "text/plain"), ("x-request-id", "abc")]).await;
    assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
    assert!(answer.body.starts_with("404 No resource at this path\n"), "{}", answer.body);
    assert!(answer.body.ends_with("request id: abc\n"), "{}", answer.body);
}

#[tokio::test]
async fn a_wrong_method_is_a_problem_that_lists_the_right_ones() {
    for (line, allow) in [("DELETE /solve", "GET,HEAD,OPTIONS,POST"), ("POST /livez", "GET,HEAD,OPTIONS")] {
        let answer = send(line, &[]).await;
        assert_eq!(answer.status, 405);
        let mut methods: Vec<_> = answer.header("allow").split(',').map(str::trim).collect();
        methods.sort_unstable();
        assert_eq!(methods.join(","), allow, "{line}");
        assert_eq!(answer.json()["type"], "/problems/method-not-allowed");
    }
}

#[tokio::test]
async fn options_lists_the_methods_and_has_no_body() {
    for (line, allow) in [
        ("OPTIONS /solve", "GET, HEAD, POST, OPTIONS"),
        ("OPTIONS /info", "GET, HEAD, OPTIONS"),
        ("OPTIONS *", "GET, HEAD, POST, OPTIONS"),
    ] {
        let answer = send(line, &[]).await;
        assert_eq!((answer.status, answer.header("allow"), answer.body.as_str()), (204, allow, ""), "{line}");
    }
}

#[tokio::test]
async fn head_is_get_without_the_body_for_failures_too() {
    for path in ["/livez", "/openapi.yaml", "/nowhere"] {
        let (get, head) = (send(&format!("GET {path}"), &[]).await, send(&format!("HEAD {path}"), &[]).await);
        assert_eq!(head.body, "");
        assert_eq!(head.status, get.status, "{path}");
        assert_eq!(head.header("content-type"), get.header("content-type"));
        assert_eq!(head.header("content-length"), get.body.len().to_string(), "{path}");
    }
}

#[tokio::test]
async fn every_response_has_a_request_id_and_varies_by_accept() {
    for line in ["GET /", "GET /livez", "GET /nowhere", "OPTIONS /solve", "PATCH /solve", "POST /solve"] {
        let answer = send(line, &[]).await;
        assert_eq!(answer.header("x-request-id").len(), 32, "{line}");
        assert_eq!(answer.header("vary"), "Accept", "{line}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{line}");
        assert_eq!(send(line, &[("x-request-id", "a.b-c:d_1")]).await.header("x-request-id"), "a.b-c:d_1");
    }
}

#[tokio::test]
async fn a_panic_is_an_internal_problem_with_only_the_id() {
    async fn panics() -> Response {
        panic!("a secret")
    }
    let router = serving(Router::new().route("/", get(panics)));
    let answer = answer_of(router, request("GET /", &[("x-request-id", "abc")])).await;
    assert_eq!((answer.status, answer.header("x-request-id")), (500, "abc"));
    assert_eq!(answer.json()["type"], "/problems/internal");
    assert!(!answer.body.contains("secret"), "{}", answer.body);
}

#[tokio::test]
async fn a_route_is_known_where_the_router_finds_one() {
    let paths = || ROUTES.iter().map(|route| route.path);
    let routes = paths().fold(Router::new(), |routes, path| routes.route(path, get(async move || path)));
    let near = ["/web", "/web/", "/web/a", "/web/a/", "/web//b", "/web/a/b/c"].into_iter();
    let near = near.chain([
        "/solve/",
        "//solve",
        "/SOLVE",
        "/solv",
        "/solve%20",
        "/problems",
        "/problems/",
        "/problems/a/b",
        "*",
    ]);
    let slugs = ["/problems/invalid-board", "/problems/%2f", "/problems/..", "/web/a/b", "/web/1/board.js"];
    for path in paths().chain(near).chain(slugs) {
        let path = path.replace(['{', '}'], "");
        let response = routes.clone().oneshot(request(&format!("GET {path}"), &[])).await.unwrap();
        let is_found = response.status().is_success();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let found = Routes::main(&ROUTES).find(&path).map(|route| route.path.as_bytes());
        assert_eq!(found, is_found.then_some(&*body), "{path}");
    }
}

#[test]
fn the_admin_listener_has_the_operations_routes_only() {
    let (admin, main) = (Routes::admin(&ROUTES), Routes::main(&ROUTES));
    for path in ["/solve", "/problems/internal", "/"] {
        assert!(admin.find(path).is_none(), "{path}");
        assert!(main.find(path).is_some(), "{path}");
    }
    assert_eq!(admin.find("/livez").map(|route| route.path), Some("/livez"));
}

#[test]
fn the_table_has_the_paths_of_the_contract() {
    let contract = include_str!("../../openapi.yaml");
    let mut contract: Vec<&str> =
        contract.lines().filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':')).collect();
    contract.retain(|path| path.starts_with('/'));
    let mut table: Vec<&str> = ROUTES.iter().map(|route| route.path).collect();
    contract.sort_unstable();
    table.sort_unstable();
    assert_eq!(table, contract);
}

#[tokio::test]
async fn an_error_status_without_a_problem_gets_one() {
    for kind in ProblemKind::ALL.iter().copied() {
        let status = kind.status();
        let bare = async move || (status, "plain words of some layer");
        let routes = Router::new().route("/", get(bare));
        let router = serving(routes);
        let answer = answer_of(router, request("GET /", &[])).await;
        assert_eq!(answer.json()["status"], answer.status);
        assert_eq!(answer.status, status.as_u16());
        assert!(!answer.body.contains("plain words"));
    }
}

#[tokio::test]
async fn the_extractors_problems_reach_the_client() {
    let empty = send("POST /solve", &[]).await;
    assert_eq!((empty.status, empty.json()["type"].as_str()), (400, Some("/problems/malformed-json")));
    let query = send("GET /solve?board=%zz", &[]).await;
    assert_eq!((query.status, query.json()["errors"][0]["pointer"].as_str()), (400, Some("/board")));
}

#[tokio::test]
async fn probes_ignore_accept() {
    for path in ["/livez", "/readyz", "/healthz"] {
        let router = unguarded(&ready().await);
        for (accept, body) in
            [("*/*", r#"{"status":"ok"}"#), ("text/plain", "ok\n"), ("image/png", r#"{"status":"ok"}"#)]
        {
            let answer = answer_of(router.clone(), request(&format!("GET {path}"), &[("accept", accept)])).await;
            assert_eq!((answer.status, answer.body.as_str()), (200, body), "{path}");
            assert_eq!(answer.header("cache-control"), "no-store");
        }
    }
}

/// A service whose tables are built.
async fn ready() -> Arc<Service> {
    let service = service();
    while !service.is_ready() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    service
}

#[tokio::test]
async fn a_draining_service_lives_but_is_not_ready() {
    let service = service();
    service.drain();
    let router = unguarded(&service);
    let readyz = answer_of(router.clone(), request("GET /readyz", &[])).await;
    assert_eq!((readyz.status, readyz.header("retry-after")), (503, "1"));
    assert_eq!(readyz.json()["type"], "/problems/shutting-down");
    assert_eq!(answer_of(router, request("GET /livez", &[])).await.status, 200);
}

#[tokio::test]
async fn every_problem_type_has_a_page_in_three_forms() {
    for kind in ProblemKind::ALL.iter().copied() {
        let line = format!("GET /problems/{}", kind.slug());
        assert_eq!(send(&line, &[]).await.json()["status"], kind.status().as_u16());
        assert!(send(&line, &[("accept", "text/plain")]).await.body.starts_with(kind.title()));
        let page = send(&line, &[("accept", "text/html")]).await;
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
        assert!(page.body.contains(&format!("<h1>{}</h1>", kind.title())));
    }
    let unknown = send("GET /problems/none", &[]).await;
    assert_eq!((unknown.status, unknown.json()["type"].as_str()), (404, Some("/problems/not-found")));
    assert_eq!(send("GET /problems/%ff", &[]).await.status, 404);
}

#[tokio::test]
async fn a_problem_page_loads_nothing_and_cannot_be_framed() {
    let page = send("GET /problems/internal", &[("accept", "text/html")]).await;
    let policy = page.header("content-security-policy");
    assert_eq!(policy, "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    assert_eq!(page.header("referrer-policy"), "no-referrer");
    assert_eq!(page.header("x-frame-options"), "DENY");
    assert_eq!(page.header("cross-origin-opener-policy"), "same-origin");
    // The policy would block all of these.
    for blocked in ["<style", "style=", "<script", "<img", "<link", "<form", "onload="] {
        assert!(!page.body.contains(blocked), "{blocked}");
    }
    let json = send("GET /problems/internal", &[]).await;
    assert_eq!(json.header("content-security-policy"), "", "only pages have a policy");
}

#[tokio::test]
async fn static_documents_are_revalidated_by_their_tag() {
    for path in ["/openapi.yaml", "/openapi.json", "/problems/internal", "/"] {
        let first = send(&format!("GET {path}"), &[]).await;
        let tag = first.header("etag");
        assert!(tag.starts_with("W/\""), "{path}");
        assert!(!first.header("cache-control").is_empty());
        let again = send(&format!("GET {path}"), &[("if-none-match", tag)]).await;
        assert_eq!((again.status, again.body.as_str(), again.header("etag")), (304, "", tag), "{path}");
    }
}

#[tokio::test]
async fn the_contract_is_served_in_the_requested_type() {
    assert!(send("GET /openapi.json", &[]).await.json()["openapi"].is_string());
    let yaml = send("GET /openapi.yaml", &[("accept", "*/*")]).await;
    assert_eq!(yaml.header("content-type"), "application/yaml; charset=utf-8");
    let text = send("GET /openapi.yaml", &[("accept", "text/plain")]).await;
    assert_eq!((text.header("content-type"), &text.body), ("text/plain; charset=utf-8", &yaml.body));
    assert_eq!(send("GET /openapi.yaml", &[("accept", "image/png")]).await.status, 406);
}

#[tokio::test]
async fn the_usage_text_has_the_host_of_the_request() {
    let usage = send("GET /", &[("host", "taquin.test:81")]).await;
    assert_eq!(usage.header("content-type"), "text/plain; charset=utf-8");
    assert!(usage.body.contains("http://taquin.test:81/solve\n"), "{}", usage.body);
    let hostile = send("GET /", &[("host", "x'$(id)")]).await;
    assert!(!hostile.body.contains("$(id)"));
}
