//! The resources of a service for jobs shared by several processes.

use std::sync::Arc;

use prometheus_client::collector::Collector;

use crate::jobs::{Dispatch, JobStore};

pub(crate) struct SharedJobs {
    pub(crate) store: JobStore,
    pub(crate) dispatch: Arc<dyn Dispatch>,
    pub(crate) gauges: Box<dyn Collector>,
}
