//! The OpenTelemetry span of a request, and W3C Trace Context in requests and responses.

use std::future::Future;
use std::str::FromStr;

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode};
use opentelemetry::trace::{FutureExt, SpanContext, SpanKind, Status, TraceContextExt, TraceFlags, TraceState, Tracer};
use opentelemetry::{Context, KeyValue, global, trace};

use super::context::{RequestContext, Traceparent};

/// Response header with the trace and span id, in the format of `traceparent` (draft W3C Trace Context 2).
const TRACERESPONSE: HeaderName = HeaderName::from_static("traceresponse");

/// The context of a sampled span; `None` if the request has no span or it is not sampled.
pub(crate) struct ServerSpan(Option<Context>);

impl ServerSpan {
    /// Starts a span as a child of the client's span, and stores its ids in `context`. There is no span if `is_traced`
    /// is false or the sampler drops it.
    pub(crate) fn begin<B>(
        is_traced: bool,
        request: &Request<B>,
        route: Option<&'static str>,
        context: &mut RequestContext,
    ) -> Self {
        if !is_traced {
            return Self(None);
        }
        let parent = parent_of(request.headers()).map(|parent| Context::new().with_remote_span_context(parent));
        let span = span_of(request, route, context, &parent.unwrap_or_default());
        let ids = trace::Span::span_context(&span);
        if !ids.is_sampled() {
            return Self(None);
        }
        context.trace_id = Some(ids.trace_id().to_string().into());
        context.span_id = Some(ids.span_id().to_string().into());
        Self(Some(Context::new().with_span(span)))
    }

    /// Runs a future with this span as the current one.
    pub(crate) fn around<F: Future>(&self, exchange: F) -> impl Future<Output = F::Output> + use<F> {
        let context = self.0.clone();
        async {
            match context {
                Some(context) => exchange.with_context(context).await,
                None => exchange.await,
            }
        }
    }

    /// Adds the ids of the span to the response headers.
    pub(crate) fn add_traceresponse(&self, headers: &mut HeaderMap) {
        let Some(context) = &self.0 else { return };
        let span = context.span();
        let ids = span.span_context();
        let text = format!("00-{}-{}-{:02x}", ids.trace_id(), ids.span_id(), ids.trace_flags());
        if let Ok(value) = HeaderValue::try_from(text) {
            headers.insert(TRACERESPONSE, value);
        }
    }

    /// Ends the span with the status of the response. A 5xx status marks the span as an error.
    pub(crate) fn end(&self, status: StatusCode) {
        let Some(context) = &self.0 else { return };
        let span = context.span();
        span.set_attribute(KeyValue::new("http.response.status_code", i64::from(status.as_u16())));
        if status.is_server_error() {
            span.set_attribute(KeyValue::new("error.type", status.as_str().to_owned()));
            span.set_status(Status::error(""));
        }
        span.end();
    }
}

/// Starts the span of a request. Text that the client controls becomes an attribute only if it matched a route.
fn span_of<B>(
    request: &Request<B>,
    route: Option<&'static str>,
    context: &RequestContext,
    parent: &Context,
) -> global::BoxedSpan {
    let method = known(request.method());
    let verb = method.unwrap_or("HTTP");
    let name = route.map_or_else(|| verb.to_owned(), |route| format!("{verb} {route}"));
    let mut attributes = vec![
        KeyValue::new("http.request.method", method.unwrap_or("_OTHER")),
        KeyValue::new("url.scheme", "http"),
        KeyValue::new("http.request_id", context.request_id().to_owned()),
    ];
    if let Some(route) = route {
        attributes.push(KeyValue::new("http.route", route));
        attributes.push(KeyValue::new("url.path", request.uri().path().to_owned()));
    }
    let tracer = global::tracer(env!("CARGO_PKG_NAME"));
    let span = tracer.span_builder(name).with_kind(SpanKind::Server).with_attributes(attributes);
    span.start_with_context(&tracer, parent)
}

/// The name of a method of RFC 9110 or RFC 5789. Clients can invent other names, so any other name returns `None`.
fn known(method: &Method) -> Option<&'static str> {
    const KNOWN: [&str; 9] = ["GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "CONNECT", "TRACE"];
    KNOWN.into_iter().find(|known| method == known)
}

/// The client's span. An invalid `tracestate` is discarded, as W3C Trace Context requires.
fn parent_of(headers: &HeaderMap) -> Option<SpanContext> {
    let Traceparent { trace_id, parent_id, flags } = Traceparent::read(headers)?;
    let state: Vec<&str> =
        headers.get_all("tracestate").iter().map(HeaderValue::to_str).collect::<Result<_, _>>().unwrap_or_default();
    Some(SpanContext::new(
        trace::TraceId::from_hex(trace_id).ok()?,
        trace::SpanId::from_hex(parent_id).ok()?,
        TraceFlags::new(u8::from_str_radix(flags, 16).ok()?) & TraceFlags::SAMPLED,
        true,
        TraceState::from_str(&state.join(",")).unwrap_or_default(),
    ))
}
