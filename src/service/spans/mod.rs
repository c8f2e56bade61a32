//! OpenTelemetry spans of searches; builds without the `otel` feature record none.

#[cfg(not(feature = "otel"))]
mod disabled;
#[cfg(feature = "otel")]
mod otel;

#[cfg(not(feature = "otel"))]
pub(crate) use disabled::{SearchSpan, TraceContext};
#[cfg(feature = "otel")]
pub(crate) use otel::{SearchSpan, TraceContext};
