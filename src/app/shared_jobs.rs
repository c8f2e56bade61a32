//! What a service needs for the jobs of several processes.

use std::sync::Arc;

use prometheus_client::collector::Collector;

use crate::jobs::{Dispatch, JobStore};

/// The jobs of several processes.
pub(super) struct SharedJobs {
    pub(super) store: JobStore,
    pub(super) dispatch: Arc<dyn Dispatch>,
    pub(super) gauges: Box<dyn Collector>,
}
