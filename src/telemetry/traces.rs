//! Traces: from ended spans to a collector, over OTLP/HTTP in protobuf, in the background.
//!
//! A request leaves its spans in a bounded queue and never waits: what does not fit is dropped. A
//! thread of its own takes them from there in batches, every five seconds or sooner.

mod collector;
mod ids;

use std::error::Error;
use std::time::Duration;

use opentelemetry::{KeyValue, global};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};

use self::collector::Collector;
use self::ids::Ids;
use crate::config::TraceConfig;

/// How long the end of the process waits for the last batch.
const LAST_BATCH: Duration = Duration::from_secs(1);

/// What sends traces; nothing if there are to be none.
#[derive(Debug)]
pub(super) struct Traces(Option<SdkTracerProvider>);

impl Traces {
    /// Makes it what all spans of this process go to.
    pub(super) fn start(config: Option<&TraceConfig>) -> Result<Self, Box<dyn Error>> {
        let provider = config.map(provider).transpose()?;
        if let Some(provider) = &provider {
            global::set_tracer_provider(provider.clone());
        }
        Ok(Self(provider))
    }

    /// Sends what is left, and takes a second for it at most.
    pub(super) fn finish(self) {
        if let Some(provider) = self.0 {
            // What could not be sent has been told.
            let _ = provider.shutdown_with_timeout(LAST_BATCH);
        }
    }
}

fn provider(config: &TraceConfig) -> Result<SdkTracerProvider, Box<dyn Error>> {
    let resource = Resource::builder()
        .with_service_name(env!("CARGO_PKG_NAME"))
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .build();
    Ok(SdkTracerProvider::builder()
        .with_resource(resource)
        .with_sampler(Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(config.sample))))
        .with_id_generator(Ids::default())
        .with_batch_exporter(exporter(config)?)
        .build())
}

fn exporter(config: &TraceConfig) -> Result<SpanExporter, Box<dyn Error>> {
    let builder = SpanExporter::builder().with_http().with_protocol(Protocol::HttpBinary);
    Ok(builder.with_endpoint(config.url.as_str()).with_http_client(Collector::new()?).build()?)
}
