//! The problem document of a failed request.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, Uri, header};
use axum::response::{IntoResponse, Response};
use futures_util::TryFutureExt;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use tower::layer::layer_fn;
use tower::{Layer, service_fn};

use super::InfallibleService;
use super::access_log::{AccessLine, name_of};
use super::base_path::RemovedPrefix;
use crate::http::media_type::MediaType;
use crate::http::negotiation::negotiate;
use crate::http::problem::{Problem, ProblemKind};
use crate::http::reply::reserved_if_long;
use crate::http::routes_table::Routes;
use crate::service::{Metrics, Service};

/// Writes the problem document of every failed request, also of failures that inner layers left without a [`Problem`].
pub(crate) fn problem_documents<S: InfallibleService<Body>>(
    routes: Routes,
    service: Arc<Service>,
) -> impl Layer<S, Service = impl InfallibleService<Body>> {
    // Connections do not contend for the reference count of this pair.
    let listener = Arc::new((routes, service));
    layer_fn(move |mut inner: S| {
        let listener = Arc::clone(&listener);
        service_fn(move |request: Request| {
            let (listener, line) = (Arc::clone(&listener), request.extensions().get::<AccessLine>().cloned());
            let (uri, accepts) = (request.uri().clone(), accepts(request.headers()));
            let removed = request.extensions().get::<RemovedPrefix>().cloned();
            // An async block would occupy memory for the inner future twice.
            inner.call(request).map_ok(move |mut response| {
                let (routes, service) = &*listener;
                let prefix = removed.as_ref().map_or("", |RemovedPrefix(path)| path);
                if let Some(line) = line
                    && let Some(problem) = problem_of(&mut response, line.method(), (prefix, &uri), routes)
                {
                    let media_type = negotiate(&accepts, &[MediaType::Json, MediaType::Text]);
                    let media_type = media_type.unwrap_or(MediaType::Json);
                    line.fail(write(problem, &mut response, &uri, media_type, &line, service));
                }
                response
            })
        })
    })
}

/// Copies the `Accept` headers of a request. It allocates nothing if there are none.
fn accepts(headers: &HeaderMap) -> HeaderMap {
    headers.get_all(header::ACCEPT).iter().map(|value| (header::ACCEPT, value.clone())).collect()
}

/// Removes the problem from the extensions of a failed response, or creates one from its error status alone. `prefix`
/// is the base path that was removed from `uri`.
fn problem_of(
    response: &mut Response,
    method: &Method,
    (prefix, uri): (&str, &Uri),
    routes: &Routes,
) -> Option<Problem> {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return None;
    }
    Some(response.extensions_mut().remove::<Problem>().unwrap_or_else(|| {
        let kind = ProblemKind::from_status(status);
        let detail = match kind {
            ProblemKind::NotFound => return not_found(prefix, uri, routes),
            ProblemKind::MethodNotAllowed => {
                format!("This path does not support {}.{}", name_of(method), supported_methods(response.headers()))
            }
            _ => format!("{}.", status.canonical_reason().unwrap_or(kind.title())),
        };
        Problem::new(kind, detail)
    }))
}

/// Returns the problem of an unknown path, with the path for which it may stand. All paths begin with `prefix`.
fn not_found(prefix: &str, uri: &Uri, routes: &Routes) -> Problem {
    let problem = |hint: &str| {
        let detail = format!("No resource has this path{hint} {}", where_to_look(prefix, routes));
        Problem::new(ProblemKind::NotFound, detail)
    };
    match routes.similar(uri.path()).map(|path| format!("{prefix}{path}")) {
        Some(path) => problem(&format!(": did you mean `{path}`?")).with_member("suggestion", path),
        None => problem("."),
    }
}

/// Names the methods of an `Allow` header in a sentence, without HEAD and OPTIONS, which most paths support.
fn supported_methods(headers: &HeaderMap) -> String {
    let allowed = headers.get(header::ALLOW).and_then(|methods| methods.to_str().ok()).unwrap_or_default();
    let methods: Vec<&str> =
        allowed.split(',').map(str::trim).filter(|method| !matches!(*method, "" | "HEAD" | "OPTIONS")).collect();
    if methods.is_empty() { String::new() } else { format!(" Use {}.", methods.join(" or ")) }
}

/// Tells a client which paths a listener has. The admin listener has no usage page.
fn where_to_look(prefix: &str, routes: &Routes) -> String {
    if routes.find("/").is_some() {
        return format!("`GET {prefix}/` shows examples; `{prefix}/openapi.yaml` describes every path.");
    }
    let paths: Vec<String> = routes.iter().map(|route| format!("{prefix}{}", route.path)).collect();
    format!("This listener serves {}.", paths.join(", "))
}

/// Replaces the body of a response by the document of its problem, or of another problem if there is no memory for a
/// long document. Returns the problem that was written.
fn write(
    problem: Problem,
    response: &mut Response,
    uri: &Uri,
    media_type: MediaType,
    line: &AccessLine,
    service: &Service,
) -> ProblemKind {
    let content_type =
        if media_type == MediaType::Text { media_type.content_type() } else { "application/problem+json" };
    let written = |problem: &Problem| problem.document(media_type, &instance(uri), line.request_id());
    let (kind, document) = match reserved_if_long(service, written(&problem)) {
        Ok(document) => (problem.kind, document),
        Err(full) => {
            let (kind, document) = (full.kind, written(&full).into());
            *response = full.into_response();
            (kind, document)
        }
    };
    *response.status_mut() = kind.status();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_LENGTH, document.len().into());
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    *response.body_mut() = if *line.method() == Method::HEAD { Body::empty() } else { document.into() };
    kind
}

/// Characters that must be percent-encoded in a path (RFC 3986, section 3.3).
const NOT_IN_PATH: AsciiSet = CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The path of a request as a valid URI reference; invalid bytes are percent-encoded.
pub(crate) fn instance(uri: &Uri) -> String {
    // The target `host:port` of CONNECT has no path.
    let path = if uri.path().is_empty() { "/" } else { uri.path() };
    // A reference that starts with two slashes names a host.
    let mut reference = if path.starts_with("//") { "/.".to_owned() } else { String::new() };
    for (at, piece) in path.split('%').enumerate() {
        let is_encoded = piece.as_bytes().get(..2).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit));
        reference.push_str(match at {
            0 => "",
            _ if is_encoded => "%",
            _ => "%25",
        });
        reference.extend(utf8_percent_encode(piece, &NOT_IN_PATH));
    }
    reference
}

/// The response for a handler that panicked. The panic hook has logged the cause.
pub(crate) fn panicked(metrics: &Metrics) -> Response {
    metrics.panicked();
    Problem::internal().into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_method_is_truncated() {
        let made_up = Method::from_bytes("MADEUP-".repeat(900).as_bytes()).unwrap();
        assert_eq!((name_of(&made_up), name_of(&Method::GET)), ("MADEUP-MADEUP-MAD", "GET"));
    }

    #[test]
    fn the_supported_methods_are_those_of_the_allow_header() {
        for (allowed, expected) in
            [("GET,HEAD,POST,OPTIONS", " Use GET or POST."), ("GET, HEAD", " Use GET."), ("HEAD", "")]
        {
            let headers = HeaderMap::from_iter([(header::ALLOW, HeaderValue::from_static(allowed))]);
            assert_eq!(supported_methods(&headers), expected);
        }
        assert_eq!(supported_methods(&HeaderMap::new()), "");
    }
}
