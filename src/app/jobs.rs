//! Starts the engine of jobs, and registers its gauges.

use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use taquin_solver::Named;

use super::cluster;
use super::shared_jobs::SharedJobs;
use crate::config::{JobsConfig, JobsPlace};
use crate::jobs::{Dispatch, EngineError, JobEngine, JobStore, LocalDispatch};
use crate::service::{Service, write_gauge, write_gauges};

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
    let Some(JobsConfig { place, settings }) = config.cloned() else { return Ok(None) };
    let (store, dispatch, queue_gauges): (_, Arc<dyn Dispatch>, _) = match place {
        JobsPlace::Own(path) => (JobStore::in_directory(&path)?, Arc::new(LocalDispatch::new(service)), None),
        JobsPlace::Shared { store, queue } => {
            let SharedJobs { store, dispatch, gauges } = cluster::open(&store, &queue).map_err(JobsError::Shared)?;
            (store, dispatch, Some(gauges))
        }
    };
    let engine = JobEngine::open(service, settings, store, dispatch)?;
    Ok(Some(OpenJobs { engine, queue_gauges }))
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

impl Collector for JobGauges {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let states = self.0.states().into_iter().map(|(state, count)| (state.name(), count as u64));
        write_gauges(&mut encoder, "jobs", "Jobs by state", "state", states)?;
        let help = "1 if the store of the jobs could be read when it was last searched, otherwise 0";
        write_gauge(&mut encoder, "jobs_store_up", help, u64::from(self.0.has_store()))?;
        let Some(oldest) = self.0.oldest_chunk() else { return Ok(()) };
        let help = "Age of the oldest chunk that was begun and is not stored, or 0";
        write_gauge(&mut encoder, "jobs_oldest_chunk_seconds", help, oldest.as_secs_f64())
    }
}
