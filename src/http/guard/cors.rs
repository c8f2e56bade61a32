//! CORS: which pages of other origins may read responses (Fetch standard).

use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use tower::{Layer, Service};
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::http::exchange::X_REQUEST_ID;

/// How long a browser may cache a preflight response.
const MAX_AGE: Duration = Duration::from_secs(60 * 60);

/// The CORS layer for these origins, or for all origins if the only entry is `*`; `None` if there are no origins.
pub(crate) fn layer(origins: &[String]) -> Option<CorsLayer> {
    let allowed = match origins {
        [] => return None,
        [all] if all == "*" => AllowOrigin::any(),
        // Invalid header values cannot be origins. `*` among other entries has no effect.
        origins => AllowOrigin::list(
            origins.iter().filter(|origin| *origin != "*").filter_map(|origin| HeaderValue::from_str(origin).ok()),
        ),
    };
    let cors = CorsLayer::new()
        .allow_origin(allowed)
        .allow_methods([Method::GET, Method::HEAD, Method::POST, Method::DELETE, Method::OPTIONS])
        .allow_headers([
            header::ACCEPT,
            header::AUTHORIZATION,
            HeaderName::from_static("content-digest"),
            header::CONTENT_TYPE,
            header::IF_MATCH,
            header::IF_NONE_MATCH,
            header::IF_RANGE,
            HeaderName::from_static("idempotency-key"),
            HeaderName::from_static("last-event-id"),
            HeaderName::from_static("prefer"),
            header::RANGE,
            HeaderName::from_static("traceparent"),
            HeaderName::from_static("tracestate"),
            X_REQUEST_ID,
        ])
        .expose_headers([
            header::CONTENT_RANGE,
            header::ETAG,
            header::LOCATION,
            HeaderName::from_static("preference-applied"),
            header::RETRY_AFTER,
            HeaderName::from_static("server-timing"),
            HeaderName::from_static("traceresponse"),
            X_REQUEST_ID,
            HeaderName::from_static("x-taquin-seed"),
        ])
        .max_age(MAX_AGE);
    Some(cors)
}

/// Responds to preflights, and adds the CORS headers to all other responses.
pub(crate) async fn apply(State(cors): State<CorsLayer>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let is_preflight =
        headers.contains_key(header::ORIGIN) && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let is_options = request.method() == Method::OPTIONS;
    // The CORS layer treats every OPTIONS request as a preflight. All other requests go to the route.
    if is_options && !is_preflight {
        return next.run(request).await;
    }
    let mut response = match cors.layer(next).call(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    if is_options {
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    response
}
