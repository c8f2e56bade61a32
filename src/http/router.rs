//! The HTTP services of both listeners.

use std::sync::Arc;

use axum::Router;
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use prometheus_client::registry::Registry;

use super::exchange::{BasePath, BrowserGuard, HttpMetrics, HttpService};
use super::guard::{self, Guards};
use super::routes::{ROUTES, allow};
use super::routes_table::Routes;
use super::state::{AppState, HttpSettings, JobsState, Site};
use tokio::sync::Semaphore;

use crate::jobs::JobEngine;
use crate::service::Service;

/// HTTP services of both listeners, with shared state and metrics.
#[derive(Debug)]
pub struct HttpServices {
    /// All routes, behind the guards.
    pub main: HttpService,
    /// The operations routes only, without guards.
    pub admin: HttpService,
}

impl HttpServices {
    /// Builds both services. Adds their metrics to `registry`, which `/metrics` writes.
    pub fn new(
        service: &Arc<Service>,
        jobs: Option<Arc<JobEngine>>,
        settings: HttpSettings,
        site: Site,
        guards: &Guards,
        mut registry: Registry,
    ) -> Self {
        let metrics = HttpMetrics::new(&mut registry, ROUTES.iter().map(|route| route.path));
        let base_path = BasePath::new(&site.base_path);
        let has_tokens = !guards.tokens.is_empty();
        let jobs = jobs.map(|engine| JobsState {
            engine,
            has_tokens,
            readers: Arc::new(Semaphore::new((service.settings().workers / 2).max(1))),
        });
        let state = AppState::new(Arc::clone(service), jobs, settings, site, registry);
        let build = |routes, guards: &Guards| {
            let router = guard::wrap(router(&routes), guards, service.metrics(), &routes);
            let router = router.with_state(state.clone());
            HttpService::new(router, routes, metrics.clone(), Arc::clone(service), settings.traces)
        };
        let browsers = BrowserGuard::new(&guards.cors_origins, &guards.allowed_hosts);
        Self {
            main: build(Routes::main(&ROUTES), guards).with_browser_guard(browsers).with_base_path(base_path),
            admin: build(Routes::admin(&ROUTES), &Guards::default()),
        }
    }
}

fn router(routes: &Routes) -> Router<AppState> {
    let router = routes.iter().fold(Router::new(), |router, route| router.route(route.path, (route.handler)()));
    router.fallback(not_found)
}

async fn not_found(method: Method, uri: Uri) -> Response {
    if method == Method::OPTIONS && uri.path() == "*" {
        return allow("GET, HEAD, POST, OPTIONS");
    }
    StatusCode::NOT_FOUND.into_response()
}
