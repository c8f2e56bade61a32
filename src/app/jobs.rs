//! The engine of jobs: its start, and its gauges.

use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::gauge::ConstGauge;
use taquin_solver::Named;

use super::cluster;
use super::shared_jobs::SharedJobs;
use crate::config::{JobsConfig, JobsPlace};
use crate::jobs::{EngineError, JobEngine, JobLane, JobSettings, JobStore};
use crate::service::Service;

/// Why jobs cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum JobsError {
    /// The engine cannot start.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The store or the queue cannot be used.
    #[error(transparent)]
    Shared(Box<dyn std::error::Error + Send + Sync>),
}

/// Opens the place of the jobs, if there is one. It is called in a tokio runtime, on a thread that may block.
///
/// # Errors
/// [`JobsError`].
pub(super) fn open(service: &Arc<Service>, config: Option<&JobsConfig>) -> Result<Option<OpenJobs>, JobsError> {
    let Some(config) = config.cloned() else { return Ok(None) };
    let JobsConfig { place, keep, max_unfinished, max_boards, max_body } = config;
    let settings = JobSettings { keep, max_unfinished, max_boards, max_body };
    match place {
        JobsPlace::Own(path) => {
            let (store, lane) = (JobStore::in_directory(&path)?, Arc::new(JobLane::new(service)));
            let engine = JobEngine::open(service, settings, store, lane)?;
            Ok(Some(OpenJobs { engine, queue_gauges: None }))
        }
        JobsPlace::Shared { store, queue } => {
            let SharedJobs { store, dispatch, gauges } = cluster::open(&store, &queue).map_err(JobsError::Shared)?;
            let engine = JobEngine::open(service, settings, store, dispatch)?;
            Ok(Some(OpenJobs { engine, queue_gauges: Some(gauges) }))
        }
    }
}

/// An engine, and the gauges of its queue if it has one.
#[derive(Debug)]
pub(super) struct OpenJobs {
    pub(super) engine: Arc<JobEngine>,
    pub(super) queue_gauges: Option<Box<dyn Collector>>,
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
        let mut jobs = encoder.encode_descriptor("jobs", "Jobs by state", None, kind)?;
        for (state, count) in self.0.states() {
            ConstGauge::new(count as u64).encode(jobs.encode_family(&StateLabel { state: state.name() })?)?;
        }
        let up = ConstGauge::new(u64::from(self.0.has_store()));
        let help = "1 if the store of the jobs could be read when it was last searched, otherwise 0";
        up.encode(encoder.encode_descriptor("jobs_store_up", help, None, up.metric_type())?)?;
        let Some(oldest) = self.0.oldest_chunk() else { return Ok(()) };
        let oldest = ConstGauge::new(oldest.as_secs_f64());
        let help = "Age of the oldest chunk that was begun and is not stored, or 0";
        oldest.encode(encoder.encode_descriptor("jobs_oldest_chunk_seconds", help, None, oldest.metric_type())?)
    }
}
