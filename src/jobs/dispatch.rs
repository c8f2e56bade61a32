//! Distributes the chunks of unfinished jobs to workers of this process or of other processes.

use std::collections::HashMap;
use std::fmt;
use std::fmt::Debug;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::runtime::Handle;

use super::begun_chunk::ChunkBudget;
use super::job::Job;
use super::owner::JobOwner;
use super::work::OwnerWork;
use crate::service::{BulkHandle, BulkWork, Service};

/// Distributes the chunks of unfinished jobs to workers of this process or of other processes.
pub trait Dispatch: Debug + Send + Sync {
    /// Starts all missing work of these jobs, and starts no work of other jobs. The engine calls this function every
    /// two seconds, and soon after a job was created, loaded or cancelled. The calling thread may block. The
    /// implementation logs errors, and the next call retries.
    fn reconcile(&self, unfinished: &[Arc<Job>]);

    /// Returns true if a worker serves bulk work at present. The worker may be busy with other bulk work than jobs.
    fn has_worker(&self) -> bool;

    /// Returns true if other processes make the chunks. If so, only the store shows which chunks are done.
    fn makes_elsewhere(&self) -> bool {
        false
    }
}

/// Makes the chunks of all jobs in the bulk lane of the service (docs/adr/0011). The unfinished jobs of one owner form
/// one item of bulk work.
pub struct LocalDispatch {
    service: Arc<Service>,
    runtime: Handle,
    budget: ChunkBudget,
    owners: Mutex<HashMap<JobOwner, OwnerEntry>>,
}

/// An owner with unfinished jobs.
struct OwnerEntry {
    work: Arc<OwnerWork>,
    /// Registration of the work at the lane; `None` while the work is not registered.
    handle: Option<BulkHandle>,
}

impl LocalDispatch {
    /// Creates a dispatch without jobs. Needs a tokio runtime.
    pub fn new(service: &Arc<Service>) -> Self {
        let (service, runtime) = (Arc::clone(service), Handle::current());
        Self { service, runtime, budget: ChunkBudget::default(), owners: Mutex::default() }
    }

    fn entry(&self) -> OwnerEntry {
        let work = OwnerWork::new(&self.service, &self.runtime, self.budget.of_owner());
        OwnerEntry { work: Arc::new(work), handle: None }
    }
}

impl Dispatch for LocalDispatch {
    /// Registers the work of each owner with unfinished jobs, and registers aborted work again. Wakes registered work,
    /// since a disk that was full may have space again. If all jobs of an owner are blocked, keeps the owner's work
    /// unregistered.
    fn reconcile(&self, unfinished: &[Arc<Job>]) {
        let mut owners = self.owners.lock();
        for job in unfinished {
            owners.entry(job.record.owner).or_insert_with(|| self.entry()).work.add(job);
        }
        owners.retain(|_, entry| entry.work.has_unfinished());
        for OwnerEntry { work, handle } in owners.values_mut() {
            if work.take_abort() || work.is_blocked() {
                *handle = None;
            }
            if work.is_blocked() {
                continue;
            }
            match handle {
                Some(handle) => handle.wake(),
                None => match self.service.bulk(Arc::clone(work) as Arc<dyn BulkWork>) {
                    Ok(registered) => *handle = Some(registered),
                    Err(error) => tracing::debug!(target: "taquin::jobs", %error, "jobs wait for a thread"),
                },
            }
        }
    }

    fn has_worker(&self) -> bool {
        self.service.load().bulk > 0
    }
}

impl fmt::Debug for LocalDispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalDispatch").finish_non_exhaustive()
    }
}
