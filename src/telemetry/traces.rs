//! Export of traces to a collector, over OTLP/HTTP in protobuf, in the background.
//!
//! Ended spans enter a bounded queue. Requests never wait for it: when it is full, spans are dropped. A thread sends
//! batches, at least every five seconds.

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

/// How long the exit of the process waits for the last batch.
const LAST_BATCH: Duration = Duration::from_secs(1);

/// The trace exporter, if traces are on.
#[derive(Debug)]
pub(crate) struct Traces(Option<SdkTracerProvider>);

impl Traces {
    /// Starts the exporter and makes it the tracer of the process.
    pub(crate) fn start(config: Option<&TraceConfig>) -> Result<Self, Box<dyn Error>> {
        let provider = config.map(provider).transpose()?;
        if let Some(provider) = &provider {
            global::set_tracer_provider(provider.clone());
        }
        Ok(Self(provider))
    }

    /// Sends the last spans, in at most a second.
    pub(crate) fn finish(self) {
        if let Some(provider) = self.0 {
            // The collector has logged its errors already.
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
