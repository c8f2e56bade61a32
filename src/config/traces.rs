//! Settings of traces: the collector and the sampling ratio. Off by default.

use clap::Args;

use super::address::quoted_url;
use super::guard::is_host_and_port;
use super::parse::SettingsParser;

#[derive(Args, Clone, Debug)]
pub(crate) struct TraceFlags {
    /// URL of an OpenTelemetry collector that receives traces over OTLP/HTTP, such as http://collector:4318; no traces
    /// if empty
    ///
    /// Needs a build with the feature `otel`.
    #[arg(long, env = "TAQUIN_OTLP_ENDPOINT", value_name = "URL")]
    otlp_endpoint: Option<String>,

    /// Fraction of requests that are traced, unless their traceparent decides it [range: 0 to 1]
    #[arg(long, env = "TAQUIN_OTLP_SAMPLE", default_value = "1", value_name = "RATIO")]
    otlp_sample: String,
}

/// Valid settings of traces.
#[derive(Clone, PartialEq, Debug)]
pub struct TraceConfig {
    /// URL that traces are posted to, with its path.
    pub url: String,
    /// Fraction of requests that are traced, from 0 to 1, unless the client decides.
    pub sample: f64,
}

impl TraceFlags {
    pub(crate) fn parse(&self, parser: &mut SettingsParser) -> Option<TraceConfig> {
        let endpoint = self.otlp_endpoint.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let url = endpoint.and_then(|text| parser.collector("otlp-endpoint", text));
        let sample = parser.ratio("otlp-sample", &self.otlp_sample);
        url.map(|url| TraceConfig { url, sample })
    }
}

impl SettingsParser {
    /// Parses the collector's URL and adds the path of traces.
    fn collector(&mut self, flag: &'static str, text: &str) -> Option<String> {
        let url = traces_url(text);
        if url.is_none() {
            let reason =
                "is not an http URL of a host, an optional port and an optional path, such as http://collector:4318";
            self.report(flag, format!("{} {reason}", quoted_url(text)));
        } else if !cfg!(feature = "otel") {
            self.report(flag, "this build cannot send traces; build with `--features otel`".to_owned());
        }
        url
    }
}

/// Appends the OTLP path of traces to the endpoint of all signals.
fn traces_url(endpoint: &str) -> Option<String> {
    let (scheme, rest) = endpoint.split_once("://")?;
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let authority = authority.to_ascii_lowercase();
    let is_path = path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/-._~%".contains(&byte));
    let is_valid = scheme.eq_ignore_ascii_case("http") && is_host_and_port(&authority) && is_path;
    is_valid.then(|| format!("http://{authority}{}/v1/traces", path.trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_traces_is_appended() {
        for (endpoint, url) in [
            ("http://collector:4318", "http://collector:4318/v1/traces"),
            ("HTTP://Collector/", "http://collector/v1/traces"),
            ("http://[::1]:4318/otlp/", "http://[::1]:4318/otlp/v1/traces"),
        ] {
            assert_eq!(traces_url(endpoint).as_deref(), Some(url));
        }
    }

    #[test]
    fn only_http_urls_are_accepted() {
        for endpoint in [
            "collector:4318",
            "https://collector",
            "grpc://c:4317",
            "http://",
            "http://a b",
            "http://u@c",
            "http://c/?q",
        ] {
            assert_eq!(traces_url(endpoint), None, "{endpoint}");
        }
    }
}
