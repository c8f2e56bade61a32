//! The HTTP services of both listeners: the router, and the layers around it.

use std::any::Any;
use std::sync::Arc;

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::{BoxError, Router};
use bytes::Bytes;
use prometheus_client::registry::Registry;
use tokio::sync::Semaphore;
use tower::ServiceBuilder;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::CorsLayer;
use tower_http::map_response_body::MapResponseBodyLayer;
use tower_http::request_id::SetRequestIdLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::validate_request::ValidateRequestHeaderLayer;

use super::exchange::{self, BasePath, HttpMetrics, InfallibleService, RandomId};
use super::guard::{BrowserGuard, Gate, Guards, cors};
use super::routes::{ROUTES, allow};
use super::routes_table::Routes;
use super::state::{AppState, HttpSettings, JobsState, SharedState, Site};
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
        let state = SharedState { service: Arc::clone(service), settings, site, jobs, registry };
        let state = AppState(Arc::new(state));
        let build = |routes: Routes, guards: &Guards| {
            let router = router(&routes).with_state(state.clone());
            HttpService::new(router, routes, guards, metrics.clone(), Arc::clone(service), settings.traces)
        };
        Self {
            main: HttpService { base_path: Arc::new(base_path), ..build(Routes::main(&ROUTES), guards) },
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

/// The HTTP service of a listener.
#[derive(Clone, Debug)]
pub struct HttpService {
    router: Router,
    routes: Routes,
    /// Path below which requests are served too.
    base_path: Arc<BasePath>,
    browsers: Arc<BrowserGuard>,
    cors: Option<CorsLayer>,
    gate: Option<Arc<Gate>>,
    metrics: HttpMetrics,
    service: Arc<Service>,
    /// True if a span is recorded for each request.
    traces: bool,
}

impl HttpService {
    pub(crate) fn new(
        router: Router,
        routes: Routes,
        guards: &Guards,
        metrics: HttpMetrics,
        service: Arc<Service>,
        traces: bool,
    ) -> Self {
        let browsers = Arc::new(BrowserGuard::new(&guards.cors_origins, &guards.allowed_hosts));
        let gate = Gate::new(guards, service.metrics(), &routes);
        let (cors, base_path) = (cors::layer(&guards.cors_origins), Arc::default());
        Self { router, routes, base_path, browsers, cors, gate, metrics, service, traces }
    }

    /// The router and its layers for one connection, from the outermost layer to the innermost. Each request passes
    /// them downwards, and its response upwards.
    pub fn for_connection<B>(&self) -> impl InfallibleService<B> + use<B>
    where
        B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        let Self { router, routes, base_path, browsers, cors, gate, metrics, service, traces } = self.clone();
        let (redirects, known) = (Arc::clone(&base_path), routes.clone());
        // A copy, so that connections do not contend for its reference count.
        let searches = Arc::new(service.metrics().clone());
        let panicked = {
            let searches = Arc::clone(&searches);
            move |_: Box<dyn Any + Send>| exchange::panicked(&searches)
        };
        let nosniff = HeaderValue::from_static("nosniff");
        ServiceBuilder::new()
            .map_request(move |request: Request<B>| {
                let mut request = request.map(Body::new);
                base_path.strip(&mut request);
                exchange::remove_invalid_id(&mut request);
                request
            })
            .layer(SetRequestIdLayer::x_request_id(RandomId))
            .layer(exchange::access_log(metrics, routes.clone(), traces))
            .layer(SetResponseHeaderLayer::overriding(header::X_CONTENT_TYPE_OPTIONS, nosniff))
            .layer(SetResponseHeaderLayer::overriding(header::VARY, exchange::vary_by_accept))
            .layer(exchange::problem_documents(routes, service))
            .layer(check(|request| exchange::check_head(request.version(), request.headers())))
            .layer(check(move |request| redirects.redirect(request)))
            .layer(check(move |request| browsers.check(known.find(request.uri().path()), request, &searches)))
            // Outside the panics and the gate, so that allowed pages can read every failure.
            .option_layer(cors.map(|cors| from_fn_with_state(cors, cors::apply)))
            .layer(MapResponseBodyLayer::new(Body::new))
            .layer(CatchPanicLayer::custom(panicked))
            .option_layer(gate.map(|gate| check(move |request| gate.admit(request))))
            .service(router)
    }
}

/// The layer that responds by itself to requests that a check rejects.
#[expect(clippy::result_large_err, reason = "tower-http has responses as errors")]
fn check<C, E>(check: C) -> ValidateRequestHeaderLayer<impl Fn(&mut Request) -> Result<(), Response> + Clone>
where
    C: Fn(&mut Request) -> Result<(), E> + Clone,
    E: IntoResponse,
{
    ValidateRequestHeaderLayer::custom(move |request: &mut Request| check(request).map_err(IntoResponse::into_response))
}
