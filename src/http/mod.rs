//! Third floor: HTTP. Reads questions, writes answers, and knows nothing of how a search works.
//!
//! A handler takes a [`Question`], and returns a response or a [`Problem`]; ids, access lines and
//! problem documents are written around it, by `exchange`.

mod board_fields;
mod cache;
mod compare;
mod compare_reply;
mod context;
mod exchange;
mod extract;
mod fields;
mod guard;
mod hint;
mod info;
mod json;
mod live;
mod live_body;
mod long_reply;
mod metrics;
mod negotiate;
mod openapi;
mod ops;
mod pages;
mod plain_board;
mod preset;
mod problem;
mod problem_kind;
mod query;
mod random;
mod search_fields;
#[cfg_attr(not(feature = "otel"), path = "no_server_span.rs")]
mod server_span;
mod solvable;
mod solve;
mod solve_json;
mod solve_reply;
mod value;
mod verify;
mod web;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::FromRef;
use axum::handler::Handler;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};

pub use cache::{Document, weak_etag};
use context::{RequestContext, SpanId, TraceId, X_REQUEST_ID};
pub use exchange::Conducted;
pub use extract::{Question, QuestionBody};
pub use guard::{Guards, Rate, Tokens};
pub use json::Json;
pub use metrics::HttpMetrics;
pub use negotiate::{Offer, choose, negotiate};
pub use problem::{Fault, Problem};
pub use problem_kind::ProblemKind;
pub use query::pointer;
pub use solve::read_solve_body;

use crate::service::Service;

/// What a client may send, and whether it leaves traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HttpSettings {
    /// The largest body that is read, in bytes.
    pub max_body: usize,
    /// How long a whole body may take to arrive.
    pub body_timeout: Duration,
    /// Refuses bodies whose type is the one that `curl -d` sets by itself.
    pub strict_content_type: bool,
    /// Whether requests leave spans, with whatever takes those of this process.
    pub traces: bool,
}

/// What handlers can take as `State`, whole or in parts. It is cloned some times a request, so it is
/// one pointer.
#[derive(Clone, Debug)]
struct Shared(Arc<House>);

#[derive(Debug)]
struct House {
    service: Arc<Service>,
    settings: HttpSettings,
    metrics: HttpMetrics,
}

impl FromRef<Shared> for Arc<Service> {
    fn from_ref(shared: &Shared) -> Self {
        Self::clone(&shared.0.service)
    }
}

impl FromRef<Shared> for HttpSettings {
    fn from_ref(shared: &Shared) -> Self {
        shared.0.settings
    }
}

impl FromRef<Shared> for HttpMetrics {
    fn from_ref(shared: &Shared) -> Self {
        shared.0.metrics.clone()
    }
}

/// The patterns of all routes, which metrics have as labels.
const ROUTES: [&str; 17] = [
    "/",
    "/solve",
    "/solvable",
    "/verify",
    "/hint",
    "/compare",
    "/random",
    "/info",
    "/livez",
    "/readyz",
    "/healthz",
    "/metrics",
    "/openapi.yaml",
    "/openapi.json",
    "/problems/{slug}",
    "/docs",
    "/web/{version}/{part}",
];

/// A pattern, and what answers there.
type Route = (&'static str, MethodRouter<Shared>);

/// The patterns of the routes that one listener has.
type Known = Arc<[&'static str]>;

/// The pattern that a path fits, as the router would find it.
fn route_of(known: &[&'static str], path: &str) -> Option<&'static str> {
    let exact = known.iter().find(|route| **route == path);
    exact.or_else(|| known.iter().find(|route| fits(route, path))).copied()
}

/// Whether a path fits a pattern with names in it, each of which stands for one part; the last one is not empty.
fn fits(pattern: &str, path: &str) -> bool {
    let fits = |(name, part): (&str, &str)| name == part || name.starts_with('{');
    pattern.contains('{')
        && !path.ends_with('/')
        && pattern.split('/').count() == path.split('/').count()
        && pattern.split('/').zip(path.split('/')).all(fits)
}

/// All routes, and what is around them; each exchange is counted in `metrics`, which are told at one
/// of them.
pub fn router(service: Arc<Service>, settings: HttpSettings, guards: &Guards, metrics: HttpMetrics) -> Conducted {
    let routes = [
        ("/", read(pages::home)),
        ("/solve", ask(solve::answer)),
        ("/solvable", ask(solvable::answer)),
        ("/verify", ask(verify::answer)),
        ("/hint", ask(hint::answer)),
        ("/compare", ask(compare::answer)),
        ("/random", read(random::answer)),
        ("/openapi.yaml", read(openapi::yaml)),
        ("/openapi.json", read(openapi::json)),
        ("/problems/{slug}", read(pages::problem)),
        ("/docs", read(web::docs)),
        ("/web/{version}/{part}", read(web::part)),
    ];
    let routes = routes.into_iter().chain(operations());
    complete(routes.collect(), guards, House { service, settings, metrics })
}

/// The routes of the admin listener: for those who look after the service, and none that works. Who
/// gets there is let in.
pub fn admin_router(service: Arc<Service>, settings: HttpSettings, metrics: HttpMetrics) -> Conducted {
    complete(operations().into(), &Guards::default(), House { service, settings, metrics })
}

/// What both listeners serve.
fn operations() -> [Route; 5] {
    [
        ("/info", read(info::answer)),
        ("/livez", read(ops::livez)),
        ("/readyz", read(ops::readyz)),
        ("/healthz", read(ops::livez)),
        ("/metrics", read(metrics::answer)),
    ]
}

/// Routes with what is around them. Size and time of a body are bounded where it is read, in `extract`.
fn complete(routes: Vec<Route>, guards: &Guards, house: House) -> Conducted {
    let (metrics, traces) = (house.metrics.clone(), house.settings.traces);
    let known: Known = routes.iter().map(|(pattern, _)| *pattern).collect();
    assert!(known.iter().all(|pattern| ROUTES.contains(pattern)), "every route is in `ROUTES`");
    let routes = routes.into_iter().fold(Router::new(), |routes, (pattern, answer)| routes.route(pattern, answer));
    let routes = guard::surround(routes.fallback(nothing_here), guards, &metrics, &known);
    let shared = Shared(Arc::new(house));
    let solver = (known.contains(&"/solve") && !guards.are_on()).then(|| shared.clone());
    Conducted { routes: routes.with_state(shared), known, solver, metrics, traces }
}

/// GET, and HEAD with it.
fn read<H: Handler<T, Shared>, T: 'static>(handler: H) -> MethodRouter<Shared> {
    get(handler).options(async || allow("GET, HEAD, OPTIONS"))
}

/// GET and POST of the same question.
fn ask<H: Handler<T, Shared>, T: 'static>(handler: H) -> MethodRouter<Shared> {
    get(handler.clone()).post(handler).options(async || allow("GET, HEAD, POST, OPTIONS"))
}

fn allow(methods: &'static str) -> Response {
    (StatusCode::NO_CONTENT, [(header::ALLOW, HeaderValue::from_static(methods))]).into_response()
}

async fn nothing_here(method: Method, uri: Uri) -> Response {
    if method == Method::OPTIONS && uri.path() == "*" {
        return allow("GET, HEAD, POST, OPTIONS");
    }
    StatusCode::NOT_FOUND.into_response()
}

#[cfg(test)]
mod tests;
