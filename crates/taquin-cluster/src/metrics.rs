//! Metrics of a worker.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use taquin_solver::{Named, named};

/// Metrics of a worker. The names of the metrics have the prefix `worker`.
#[derive(Debug, Default)]
pub struct WorkerMetrics {
    pub(crate) leases: Gauge,
    pub(crate) has_store: Gauge,
    pub(crate) has_queue: Gauge,
    boards: Counter,
    threads: Family<StateLabel, Gauge>,
    chunks: Family<ResultLabel, Counter>,
}

/// Result of a task, as a metric label.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum TaskResult {
    /// A part was stored.
    Stored,
    /// This task or another process has ended the job.
    Ended,
    /// The part existed, the job had ended or was deleted, or an end task found that a part is missing.
    Existed,
    /// The worker returned the task to the queue, since the worker shut down or no thread became free.
    Released,
    /// The task was not done: the job needs another version of the solver, or other tables.
    Refused,
    /// The task was not done: the store failed, or does not have the job.
    NoStore,
    /// The job was damaged, or a search returned a wrong solution. If the specification was readable, the worker ended
    /// the job as failed.
    Failed,
}

named!(TaskResult {
    Stored => "stored",
    Ended => "ended",
    Existed => "existed",
    Released => "released",
    Refused => "refused",
    NoStore => "no_store",
    Failed => "failed",
});

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct StateLabel {
    state: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct ResultLabel {
    result: &'static str,
}

const BUSY: &str = "busy";
const IDLE: &str = "idle";

/// Counts a thread as busy. Dropping the `BusyThread` counts the thread as idle again.
#[derive(Debug)]
pub(crate) struct BusyThread<'f>(&'f WorkerMetrics);

impl WorkerMetrics {
    /// Creates the metrics of a worker with `threads` threads and one more thread for quick tasks.
    pub fn new(threads: usize) -> Self {
        let figures = Self::default();
        figures.thread(IDLE).set(threads as i64 + 1);
        figures.thread(BUSY).set(0);
        figures.has_store.set(1);
        figures.has_queue.set(1);
        TaskResult::ALL.iter().for_each(|result| drop(figures.of_result(*result)));
        figures
    }

    /// Registers all metrics.
    pub fn register(&self, registry: &mut Registry) {
        let own = registry.sub_registry_with_prefix("worker");
        own.register("threads", "Threads of the worker, by state", self.threads.clone());
        own.register("leases", "Tasks that the worker has taken and not given back", self.leases.clone());
        own.register("store_up", "1 if the last access to the store succeeded, otherwise 0", self.has_store.clone());
        own.register("queue_up", "1 if the last access to the queue succeeded, otherwise 0", self.has_queue.clone());
        own.register("chunks", "Tasks that were taken, by what became of them", self.chunks.clone());
        own.register("boards", "Labelled boards", self.boards.clone());
    }

    pub(crate) fn count(&self, result: TaskResult) {
        self.of_result(result).inc();
    }

    pub(crate) fn count_boards(&self, boards: u64) {
        self.boards.inc_by(boards);
    }

    pub(crate) fn busy(&self) -> BusyThread<'_> {
        self.thread(BUSY).inc();
        self.thread(IDLE).dec();
        BusyThread(self)
    }

    fn thread(&self, state: &'static str) -> Gauge {
        self.threads.get_or_create_owned(&StateLabel { state })
    }

    fn of_result(&self, result: TaskResult) -> Counter {
        self.chunks.get_or_create_owned(&ResultLabel { result: result.name() })
    }
}

impl Drop for BusyThread<'_> {
    fn drop(&mut self) {
        self.0.thread(BUSY).dec();
        self.0.thread(IDLE).inc();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_and_the_quick_one_are_idle_or_busy() {
        let figures = WorkerMetrics::new(2);
        let busy: Vec<BusyThread<'_>> = (0..3).map(|_| figures.busy()).collect();
        assert_eq!((figures.thread(BUSY).get(), figures.thread(IDLE).get()), (3, 0));
        drop(busy);
        assert_eq!((figures.thread(BUSY).get(), figures.thread(IDLE).get()), (0, 3));
    }
}
