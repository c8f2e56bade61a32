//! Jobs on many machines: store and queue of a service, and the command `taquin worker`.

pub mod worker;

use std::error::Error;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use taquin_cluster::{JetStream, QueueRole, QueueSettings, open_files};
use tokio::runtime::Handle;

use super::shared_jobs::SharedJobs;
use crate::config::QueueConfig;
use crate::jobs::{Dispatch, JobStore, QueueDispatch};
use crate::service::{write_gauge, write_gauges};

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

impl Collector for QueueGauges {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let counts = self.0.counts();
        let help = "1 if the queue of chunks could be reached when it was last filled, otherwise 0";
        write_gauge(&mut encoder, "jobs_queue_up", help, u64::from(counts.is_some()))?;
        let Some(counts) = counts else { return Ok(()) };
        let help = "1 if a worker is connected to the queue, otherwise 0";
        write_gauge(&mut encoder, "jobs_workers_up", help, u64::from(self.0.has_worker()))?;
        let help = "Tasks in the queue: those that wait, and those that workers have taken";
        let tasks = [("waiting", counts.waiting), ("leased", counts.leased)];
        write_gauges(&mut encoder, "jobs_queue_tasks", help, "state", tasks)?;
        let help = "Requests of workers for a task that wait";
        write_gauge(&mut encoder, "jobs_queue_takers", help, counts.takers)
    }
}
