//! A dispatch that has the bulk lane of its service make the chunks.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::runtime::Handle;

use super::begun_chunk::ChunkBudget;
use super::dispatch::Dispatch;
use super::id::JobOwner;
use super::job::Job;
use super::work::OwnerWork;
use crate::service::{BulkHandle, BulkWork, Service};

/// The unfinished jobs of all owners. Each owner has one bulk work (docs/adr/0044).
pub struct JobLane {
    service: Arc<Service>,
    runtime: Handle,
    budget: ChunkBudget,
    owners: Mutex<HashMap<JobOwner, OwnerEntry>>,
}

/// An owner with unfinished jobs.
struct OwnerEntry {
    work: Arc<OwnerWork>,
    /// As long as the work is registered.
    handle: Option<BulkHandle>,
}

impl JobLane {
    /// A lane without jobs. It is called in a tokio runtime.
    pub fn new(service: &Arc<Service>) -> Self {
        let (service, runtime) = (Arc::clone(service), Handle::current());
        Self { service, runtime, budget: ChunkBudget::default(), owners: Mutex::default() }
    }

    fn entry(&self) -> OwnerEntry {
        let work = OwnerWork::new(&self.service, &self.runtime, self.budget.of_owner());
        OwnerEntry { work: Arc::new(work), handle: None }
    }
}

impl Dispatch for JobLane {
    /// Registers the work of owners with unfinished jobs, and wakes it, since a disk may have room again.
    fn reconcile(&self, unfinished: &[Arc<Job>]) {
        let mut owners = self.owners.lock();
        for job in unfinished {
            owners.entry(job.owner()).or_insert_with(|| self.entry()).work.add(job);
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

impl fmt::Debug for JobLane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobLane").finish_non_exhaustive()
    }
}
