//! The media types of responses.

/// A media type in which a response can be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MediaType {
    /// `application/json`; also selected by `application/problem+json`.
    Json,
    /// `text/plain`.
    Text,
    /// `text/html`.
    Html,
    /// `application/x-ndjson`, a JSON document a line; no name is registered.
    JsonLines,
    /// `text/csv` with a header line (RFC 4180).
    Csv,
    /// `image/svg+xml`.
    Svg,
    /// `text/vnd.graphviz`, the DOT language.
    Dot,
    /// `application/yaml`; also selected by the other names in use.
    Yaml,
    /// `text/event-stream`.
    Events,
    /// `application/octet-stream`, for the part of a job.
    Binary,
    /// Prometheus's text format 0.0.4, a `text/plain`.
    PrometheusText,
    /// `application/openmetrics-text`.
    OpenMetrics,
}

impl MediaType {
    /// The `Content-Type` header of a response of this type.
    pub(crate) const fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Text => "text/plain; charset=utf-8",
            Self::Html => "text/html; charset=utf-8",
            Self::JsonLines => "application/x-ndjson",
            Self::Csv => "text/csv; charset=utf-8; header=present",
            Self::Svg => "image/svg+xml",
            Self::Dot => "text/vnd.graphviz; charset=utf-8",
            Self::Yaml => "application/yaml; charset=utf-8",
            Self::Events => "text/event-stream",
            Self::Binary => "application/octet-stream",
            Self::PrometheusText => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }

    /// The names that select this type in `Accept`, the usual one first.
    pub(crate) const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Json => &["application/json", "application/problem+json"],
            Self::Text | Self::PrometheusText => &["text/plain"],
            Self::Html => &["text/html"],
            Self::JsonLines => &["application/x-ndjson", "application/ndjson", "application/jsonl"],
            Self::Csv => &["text/csv"],
            Self::Svg => &["image/svg+xml"],
            Self::Dot => &["text/vnd.graphviz"],
            Self::Yaml => &["application/yaml", "application/openapi+yaml", "application/x-yaml", "text/yaml"],
            Self::Events => &["text/event-stream"],
            Self::Binary => &["application/octet-stream"],
            Self::OpenMetrics => &["application/openmetrics-text"],
        }
    }

    /// Specificity with which a media range matches this type; 0 if it does not match.
    pub(crate) fn specificity(self, range: &str) -> u8 {
        let of = |name: &str| match (range.split_once('/'), name.split_once('/')) {
            (Some(("*", "*")), _) => 1,
            (Some((kind, "*")), Some((own, _))) if kind.eq_ignore_ascii_case(own) => 2,
            _ if range.eq_ignore_ascii_case(name) => 3,
            _ => 0,
        };
        self.names().iter().map(|name| of(name)).max().unwrap_or(0)
    }
}
