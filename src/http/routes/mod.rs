//! Handlers and the table of routes.

mod batch;
mod compare;
mod distances;
mod explain;
mod health;
mod hint;
mod info;
mod jobs;
mod metrics;
mod moves;
mod openapi;
mod playground;
mod problems;
mod random;
mod solvable;
pub(crate) mod solve;
mod usage;
mod verify;

use axum::extract::State;
use axum::handler::Handler;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use taquin_bulk::rows::RowFormat;

use super::request::Format;
use super::routes_table::{Access, Listeners, Route};
use super::state::{AppState, HttpSettings};
use Access::{Counted, Free, Open, Weighed};
use Listeners::{Both, Main};

/// All routes.
pub(crate) static ROUTES: [Route; 26] = [
    route("/", || read(usage::usage), Open, Main),
    route("/solve", || ask(solve::solve), Counted, Main),
    route("/solvable", || ask(solvable::solvable), Counted, Main),
    route("/verify", || ask(verify::verify), Counted, Main),
    route("/hint", || ask(hint::hint), Counted, Main),
    route("/moves", || ask(moves::moves), Counted, Main),
    route("/compare", || ask(compare::compare), Counted, Main),
    route("/explain", || ask(explain::explain), Counted, Main),
    route("/distances", || ask(distances::distances), Counted, Main),
    route("/batch", || take(batch::batch), Weighed, Main),
    route("/jobs", jobs_router, Counted, Main),
    route("/jobs/{id}", job_router, Free, Main),
    route("/jobs/{id}/events", || read(jobs::events), Free, Main),
    route("/jobs/{id}/results", || read(jobs::results), Counted, Main),
    route("/jobs/{id}/parts/{part}", || read(jobs::part), Free, Main),
    route("/random", || ask(random::random), Counted, Main),
    route("/info", || read(info::info), Free, Both),
    probe("/livez", || read(health::livez)),
    probe("/readyz", || read(health::readyz)),
    probe("/healthz", || read(health::livez)),
    probe("/metrics", || read(metrics::metrics)),
    route("/openapi.yaml", || read(openapi::yaml), Open, Main),
    route("/openapi.json", || read(openapi::json), Open, Main),
    route("/problems/{slug}", || read(problems::problem), Open, Main),
    route("/docs", || read(playground::docs), Open, Main),
    route("/web/{version}/{part}", || read(playground::part), Open, Main),
];

const fn route(
    path: &'static str,
    handler: fn() -> MethodRouter<AppState>,
    access: Access,
    listeners: Listeners,
) -> Route {
    Route { path, handler, access, probe: false, listeners }
}

/// Route on both listeners that monitoring polls every few seconds.
const fn probe(path: &'static str, handler: fn() -> MethodRouter<AppState>) -> Route {
    Route { path, handler, access: Open, probe: true, listeners: Both }
}

/// Routes GET and HEAD.
fn read<H: Handler<T, AppState>, T: 'static>(handler: H) -> MethodRouter<AppState> {
    get(handler).options(async || allow("GET, HEAD, OPTIONS"))
}

/// Routes GET, HEAD and POST. The fields are in the query string or in the body.
fn ask<H: Handler<T, AppState>, T: 'static>(handler: H) -> MethodRouter<AppState> {
    get(handler.clone()).post(handler).options(allow_post)
}

/// Routes POST of lines.
fn take<H: Handler<T, AppState>, T: 'static>(handler: H) -> MethodRouter<AppState> {
    let accept_post = || {
        let types = HeaderValue::from_static(batch::MEDIA_TYPES);
        ([(ACCEPT_POST, types)], allow("POST, OPTIONS")).into_response()
    };
    post(handler).options(async move || accept_post())
}

/// Routes of `/jobs`.
fn jobs_router() -> MethodRouter<AppState> {
    let accept_post = || {
        let types = format!("application/json, {}", RowFormat::MEDIA_TYPES);
        ([(ACCEPT_POST, types)], allow("GET, HEAD, POST, OPTIONS")).into_response()
    };
    get(jobs::list).post(jobs::create).options(async move || accept_post())
}

/// Routes of `/jobs/{id}`.
fn job_router() -> MethodRouter<AppState> {
    get(jobs::job).delete(jobs::delete).options(async || allow("GET, HEAD, DELETE, OPTIONS"))
}

const ACCEPT_POST: HeaderName = HeaderName::from_static("accept-post");

/// Response to OPTIONS where POST is routed, with the media types of its bodies (LDP 1.0, section 7.1).
async fn allow_post(State(settings): State<HttpSettings>) -> Response {
    let types = Format::media_types(settings.strict_content_type);
    ([(ACCEPT_POST, HeaderValue::from_static(types))], allow("GET, HEAD, POST, OPTIONS")).into_response()
}

/// Response to OPTIONS.
pub(crate) fn allow(methods: &'static str) -> Response {
    (StatusCode::NO_CONTENT, [(header::ALLOW, HeaderValue::from_static(methods))]).into_response()
}
