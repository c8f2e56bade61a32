//! The routers of both listeners.

use std::sync::Arc;

use axum::Router;
use axum::handler::Handler;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};

use super::exchange::{Conducted, HttpMetrics, metrics};
use super::guard::{self, Guards};
use super::routes::{compare, health, hint, info, openapi, playground, random, solvable, solve, usage, verify};
use super::routes_table::{Known, ROUTES};
use super::state::{House, HttpSettings, Shared};
use crate::service::Service;

/// A pattern, and what answers there.
type Route = (&'static str, MethodRouter<Shared>);

/// All routes, and what is around them; each exchange is counted in `metrics`, which are told at one
/// of them.
pub fn router(service: Arc<Service>, settings: HttpSettings, guards: &Guards, metrics: HttpMetrics) -> Conducted {
    let routes = [
        ("/", read(usage::home)),
        ("/solve", ask(solve::answer)),
        ("/solvable", ask(solvable::answer)),
        ("/verify", ask(verify::answer)),
        ("/hint", ask(hint::answer)),
        ("/compare", ask(compare::answer)),
        ("/random", read(random::answer)),
        ("/openapi.yaml", read(openapi::yaml)),
        ("/openapi.json", read(openapi::json)),
        ("/problems/{slug}", read(usage::problem)),
        ("/docs", read(playground::docs)),
        ("/web/{version}/{part}", read(playground::part)),
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
        ("/livez", read(health::livez)),
        ("/readyz", read(health::readyz)),
        ("/healthz", read(health::livez)),
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
    Conducted { routes: routes.with_state(shared), known, metrics, traces }
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
