//! Jobs on many machines: store and queue of a service, and the command `taquin worker`.

pub mod worker;

use std::error::Error;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::gauge::ConstGauge;
use taquin_cluster::{JetStream, QueueRole, QueueSettings, open_files};
use tokio::runtime::Handle;

use super::shared_jobs::SharedJobs;
use crate::config::QueueConfig;
use crate::jobs::{Dispatch, JobStore, QueueDispatch};

type BoxError = Box<dyn Error + Send + Sync>;

/// Opens the store and prepares dispatch through a queue. Needs a tokio runtime and a thread that may block.
///
/// # Errors
/// If a setting is wrong. Store and queue may still be unreachable.
pub(crate) fn open(store: &str, queue: &QueueConfig) -> Result<SharedJobs, BoxError> {
    let store = JobStore::shared(open_files(store, &Handle::current())?);
    let dispatch = Arc::new(QueueDispatch::new(connect(queue, QueueRole::Service)?));
    Ok(SharedJobs { store, dispatch: Arc::clone(&dispatch) as _, gauges: Box::new(QueueGauges(dispatch)) })
}

fn connect(queue: &QueueConfig, role: QueueRole) -> Result<Arc<JetStream>, BoxError> {
    let QueueConfig { servers, credentials, replicas } = queue.clone();
    let settings = QueueSettings { servers, credentials, replicas, role };
    Ok(Arc::new(Handle::current().block_on(JetStream::connect(&settings))?))
}

/// Reads the queue's gauges at each scrape.
#[derive(Debug)]
struct QueueGauges(Arc<QueueDispatch<JetStream>>);

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct StateLabel {
    state: &'static str,
}

impl Collector for QueueGauges {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let counts = self.0.counts();
        let up = ConstGauge::new(u64::from(counts.is_some()));
        let help = "1 if the queue of chunks could be reached when it was last filled, otherwise 0";
        up.encode(encoder.encode_descriptor("jobs_queue_up", help, None, up.metric_type())?)?;
        let Some(counts) = counts else { return Ok(()) };
        let workers = ConstGauge::new(u64::from(self.0.has_worker()));
        let help = "1 if a worker is connected to the queue, otherwise 0";
        workers.encode(encoder.encode_descriptor("jobs_workers_up", help, None, workers.metric_type())?)?;
        let help = "Tasks in the queue: those that wait, and those that workers have taken";
        let mut tasks = encoder.encode_descriptor("jobs_queue_tasks", help, None, up.metric_type())?;
        for (state, count) in [("waiting", counts.waiting), ("leased", counts.leased)] {
            ConstGauge::new(count).encode(tasks.encode_family(&StateLabel { state })?)?;
        }
        let takers = ConstGauge::new(counts.takers);
        let help = "Requests of workers for a task that wait";
        takers.encode(encoder.encode_descriptor("jobs_queue_takers", help, None, takers.metric_type())?)
    }
}
