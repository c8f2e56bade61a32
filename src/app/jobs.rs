//! Starts the engine of jobs, and registers its gauges.

use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::gauge::ConstGauge;
use taquin_solver::Named;

use super::cluster;
use super::shared_jobs::SharedJobs;
use crate::config::{JobsConfig, JobsPlace};
use crate::jobs::{EngineError, JobEngine, JobStore, LocalDispatch};
use crate::service::Service;

/// The reason why jobs cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum JobsError {
    /// The engine cannot start.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The store or the queue cannot be used.
    #[error(transparent)]
    Shared(Box<dyn std::error::Error + Send + Sync>),
}

/// Opens the place of the jobs, if one is configured. Needs a tokio runtime and a thread that may block.
pub(crate) fn open(service: &Arc<Service>, config: Option<&JobsConfig>) -> Result<Option<OpenJobs>, JobsError> {
    let Some(config) = config.cloned() else { return Ok(None) };
    let JobsConfig { place, settings } = config;
    match place {
        JobsPlace::Own(path) => {
            let (store, dispatch) = (JobStore::in_directory(&path)?, Arc::new(LocalDispatch::new(service)));
            let engine = JobEngine::open(service, settings, store, dispatch)?;
            Ok(Some(OpenJobs { engine, queue_gauges: None }))
        }
        JobsPlace::Shared { store, queue } => {
            let SharedJobs { store, dispatch, gauges } = cluster::open(&store, &queue).map_err(JobsError::Shared)?;
            let engine = JobEngine::open(service, settings, store, dispatch)?;
            Ok(Some(OpenJobs { engine, queue_gauges: Some(gauges) }))
        }
    }
}

/// An engine, with the gauges of its queue, if any.
#[derive(Debug)]
pub(crate) struct OpenJobs {
    pub(crate) engine: Arc<JobEngine>,
    pub(crate) queue_gauges: Option<Box<dyn Collector>>,
}

/// Reads an engine's gauges at each scrape.
#[derive(Debug)]
pub(crate) struct JobGauges(pub(crate) Arc<JobEngine>);

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
