//! The engine of jobs: its start, and its gauges.

use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::gauge::ConstGauge;

use crate::config::JobsConfig;
use crate::jobs::{EngineError, JobEngine, JobLane, JobSettings, JobStore};
use crate::search::Named;
use crate::service::Service;

/// Opens the directory of the jobs, if there is one. It is called in a tokio runtime, and blocks.
///
/// # Errors
/// [`EngineError`].
pub(super) fn open(service: &Arc<Service>, config: Option<&JobsConfig>) -> Result<Option<Arc<JobEngine>>, EngineError> {
    let Some(config) = config.cloned() else { return Ok(None) };
    let JobsConfig { directory, keep, max_unfinished, max_boards, max_body } = config;
    let settings = JobSettings { keep, max_unfinished, max_boards, max_body };
    let store = JobStore::in_directory(&directory)?;
    JobEngine::open(service, settings, store, Arc::new(JobLane::new(service))).map(Some)
}

/// Reads the gauges of an engine when the metrics are scraped.
#[derive(Debug)]
pub(super) struct JobGauges(pub(super) Arc<JobEngine>);

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct StateLabel {
    state: &'static str,
}

impl Collector for JobGauges {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let kind = ConstGauge::new(0_u64).metric_type();
        let mut jobs = encoder.encode_descriptor("jobs", "Jobs in the directory, by state", None, kind)?;
        for (state, count) in self.0.states() {
            ConstGauge::new(count as u64).encode(jobs.encode_family(&StateLabel { state: state.name() })?)?;
        }
        let oldest = ConstGauge::new(self.0.oldest_chunk().as_secs_f64());
        let help = "Age of the oldest chunk that was begun and is not stored, or 0";
        oldest.encode(encoder.encode_descriptor("jobs_oldest_chunk_seconds", help, None, oldest.metric_type())?)
    }
}
