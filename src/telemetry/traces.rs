//! Export of traces to a collector, over OTLP/HTTP in protobuf, in the background.
//!
//! Ended spans enter a bounded queue. Requests never wait for it: when it is full, spans are dropped. A thread sends
//! batches, at least every five seconds.

mod collector;

use std::error::Error;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use opentelemetry::trace::{SpanId, TraceId};
use opentelemetry::{KeyValue, global};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::IdGenerator;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};

use self::collector::Collector;
use crate::config::TraceConfig;

/// The process waits this long for the last batch when it exits.
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

/// Generates ids by hashing a counter with a random key of the process. The ids must be unique, not secret. Unlike the
/// SDK's generator, this one cannot fail during a request on a system without `/dev/urandom`.
#[derive(Default, Debug)]
pub(crate) struct Ids {
    key: RandomState,
    count: AtomicU64,
}

impl Ids {
    /// The next id, never 0: 0 is not a valid id.
    fn draw(&self) -> u64 {
        self.key.hash_one(self.count.fetch_add(1, Ordering::Relaxed)).max(1)
    }
}

impl IdGenerator for Ids {
    fn new_trace_id(&self) -> TraceId {
        TraceId::from(u128::from(self.draw()) << 64 | u128::from(self.draw()))
    }

    fn new_span_id(&self) -> SpanId {
        SpanId::from(self.draw())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_differ_within_and_between_processes() {
        let all: Vec<Ids> = (0..10).map(|_| Ids::default()).collect();
        let drawn: BTreeSet<u64> = all.iter().flat_map(|ids| (0..1000).map(|_| ids.draw())).collect();
        assert_eq!(drawn.len(), 10_000);
        assert_ne!(all[0].new_trace_id(), all[0].new_trace_id());
    }
}
