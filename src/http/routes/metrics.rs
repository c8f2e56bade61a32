//! `/metrics`: metrics for Prometheus.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use prometheus_client::encoding::text::encode;

use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, negotiate};
use crate::http::problem::Problem;
use crate::http::state::AppState;

/// Returns the metrics in Prometheus's text format 0.0.4, or as OpenMetrics 1.0 if `Accept` prefers it. A client that
/// accepts neither format gets the text format, because scrapers differ in their `Accept` headers.
pub(crate) async fn metrics(State(state): State<AppState>, headers: HeaderMap) -> Result<Response, Problem> {
    let mut text = String::with_capacity(1 << 15);
    encode(&mut text, &state.registry).map_err(|error| {
        tracing::error!(%error, "metrics cannot be written");
        Problem::internal()
    })?;
    let offers = [MediaType::PrometheusText, MediaType::OpenMetrics];
    let media_type = negotiate(&headers, &offers).unwrap_or(MediaType::PrometheusText);
    let body = if media_type == MediaType::OpenMetrics { text } else { text_format(&text) };
    Ok(Document::new(media_type.content_type(), Document::NO_STORE, body).response(&headers))
}

/// Rewrites OpenMetrics in the text format 0.0.4 of Prometheus.
///
/// Samples are written alike in both; the registry has no exemplars and no time stamps. The lines before them differ:
/// the older format knows neither `info` nor `UNIT` nor `EOF`, and `TYPE` and `HELP` have the name of the samples,
/// which for a counter ends with `_total`.
fn text_format(open_metrics: &str) -> String {
    let mut text = String::with_capacity(open_metrics.len() + (1 << 10));
    let mut help = "";
    for line in open_metrics.lines() {
        let mut words = line.splitn(4, ' ');
        match [words.next(), words.next(), words.next(), words.next()].map(Option::unwrap_or_default) {
            // The encoder writes HELP before TYPE.
            ["#", "HELP", _, sentence] => help = sentence,
            ["#", "TYPE", family, kind] => {
                let (suffix, kind) = match kind {
                    "counter" => ("_total", "counter"),
                    "info" => ("_info", "gauge"),
                    "unknown" => ("", "untyped"),
                    kind => ("", kind),
                };
                text.push_str(&format!("# HELP {family}{suffix} {help}\n# TYPE {family}{suffix} {kind}\n"));
            }
            ["#", ..] => {}
            _ => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use prometheus_client::metrics::counter::Counter;
    use prometheus_client::metrics::gauge::Gauge;
    use prometheus_client::metrics::histogram::Histogram;
    use prometheus_client::metrics::info::Info;
    use prometheus_client::registry::{Registry, Unit};

    use super::*;

    #[test]
    fn the_older_format_has_the_names_and_types_of_the_samples() {
        let mut registry = Registry::default();
        registry.register("build", "Version", Info::new([("version", "1 # 2")]));
        registry.register("requests", "Requests, all", Counter::<u64>::default());
        registry.register_with_unit("open", "Open", Unit::Bytes, Gauge::<i64>::default());
        registry.register("time", "Time", Histogram::new([1.0]));
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        let expected = [
            "# HELP build_info Version.",
            "# TYPE build_info gauge",
            "build_info{version=\"1 # 2\"} 1",
            "# HELP requests_total Requests, all.",
            "# TYPE requests_total counter",
            "requests_total 0",
            "# HELP open_bytes Open.",
            "# TYPE open_bytes gauge",
            "open_bytes 0",
            "# HELP time Time.",
            "# TYPE time histogram",
            "time_sum 0.0",
            "time_count 0",
            "time_bucket{le=\"1.0\"} 0",
            "time_bucket{le=\"+Inf\"} 0",
            "",
        ];
        assert_eq!(text_format(&text), expected.join("\n"));
    }
}
