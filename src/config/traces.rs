//! Settings of traces: where they go, and how many. Off by default.

use clap::Args;

use super::guard::is_host_and_port;
use super::parse::Faults;

#[derive(Args, Clone, Debug)]
pub(super) struct TraceFlags {
    /// Where an OpenTelemetry collector takes traces over OTLP/HTTP, such as http://collector:4318;
    /// nowhere if empty. Needs a build with the feature `otel`
    #[arg(long, env = "TAQUIN_OTLP_ENDPOINT", value_name = "URL")]
    otlp_endpoint: Option<String>,

    /// Which share of requests leaves a trace, 0 to 1; those whose traceparent decides are not asked
    #[arg(long, env = "TAQUIN_OTLP_SAMPLE", default_value = "1", value_name = "RATIO")]
    otlp_sample: String,
}

/// Proven settings of traces.
#[derive(Clone, PartialEq, Debug)]
pub struct TraceConfig {
    /// Where they are posted: an `http` URL with its path.
    pub url: String,
    /// Which share of requests leaves one, where the client does not decide.
    pub sample: f64,
}

impl TraceFlags {
    pub(super) fn prove(&self, faults: &mut Faults) -> Option<TraceConfig> {
        let endpoint = self.otlp_endpoint.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let url = endpoint.and_then(|text| faults.collector("otlp-endpoint", text));
        let sample = faults.ratio("otlp-sample", &self.otlp_sample);
        url.map(|url| TraceConfig { url, sample })
    }
}

impl Faults {
    /// The URL that traces are posted to.
    fn collector(&mut self, flag: &'static str, text: &str) -> Option<String> {
        let url = traces_of(text);
        if url.is_none() {
            let reason = "is no URL of http, a host, perhaps a port and a path, such as http://collector:4318";
            self.add(flag, format!("{text:?} {reason}"));
        } else if !cfg!(feature = "otel") {
            self.add(flag, "this build has no traces: build it with `--features otel`".to_owned());
        }
        url
    }

    fn ratio(&mut self, flag: &'static str, text: &str) -> f64 {
        text.trim().parse().ok().filter(|ratio| (0.0..=1.0).contains(ratio)).unwrap_or_else(|| {
            self.add(flag, format!("{text:?} is not a number from 0 to 1"));
            0.0
        })
    }
}

/// Adds the path that OTLP has for traces to what it has for all signals.
fn traces_of(endpoint: &str) -> Option<String> {
    let (scheme, rest) = endpoint.split_once("://")?;
    let (place, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let place = place.to_ascii_lowercase();
    let is_path = path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/-._~%".contains(&byte));
    let is_sound = scheme.eq_ignore_ascii_case("http") && is_host_and_port(&place) && is_path;
    is_sound.then(|| format!("http://{place}{}/v1/traces", path.trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_have_a_path_of_their_own() {
        for (endpoint, url) in [
            ("http://collector:4318", "http://collector:4318/v1/traces"),
            ("HTTP://Collector/", "http://collector/v1/traces"),
            ("http://[::1]:4318/otlp/", "http://[::1]:4318/otlp/v1/traces"),
        ] {
            assert_eq!(traces_of(endpoint).as_deref(), Some(url));
        }
    }

    #[test]
    fn nothing_but_http_is_taken() {
        for endpoint in [
            "collector:4318",
            "https://collector",
            "grpc://c:4317",
            "http://",
            "http://a b",
            "http://u@c",
            "http://c/?q",
        ] {
            assert_eq!(traces_of(endpoint), None, "{endpoint}");
        }
    }
}
