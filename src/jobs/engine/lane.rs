//! The bulk lane of a service makes the chunks of the jobs.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::runtime::Handle;

use super::begun_chunk::ChunkBudget;
use super::id::JobOwner;
use super::job::Job;
use super::work::OwnerWork;
use crate::service::{BulkHandle, BulkWork, Service};

/// The unfinished jobs of all owners. Each owner has one bulk work (docs/adr/0044).
pub(super) struct JobLane {
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
    pub(super) fn new(service: &Arc<Service>) -> Self {
        let (service, runtime) = (Arc::clone(service), Handle::current());
        Self { service, runtime, budget: ChunkBudget::default(), owners: Mutex::default() }
    }

    /// Adds an unfinished job.
    pub(super) fn add(&self, job: &Arc<Job>) {
        let new = || OwnerEntry {
            work: Arc::new(OwnerWork::new(&self.service, &self.runtime, self.budget.of_owner())),
            handle: None,
        };
        self.owners.lock().entry(job.owner()).or_insert_with(new).work.add(Arc::clone(job));
    }

    /// Number of unfinished jobs of an owner.
    pub(super) fn unfinished(&self, owner: JobOwner) -> usize {
        self.owners.lock().get(&owner).map_or(0, |entry| entry.work.unfinished())
    }

    /// Registers the work of owners with unfinished jobs, and wakes it, since a disk may have room again.
    pub(super) fn reconcile(&self) {
        let mut owners = self.owners.lock();
        owners.retain(|_, entry| entry.work.unfinished() > 0);
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
}
