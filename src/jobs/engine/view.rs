//! What clients see of a job.

use std::time::SystemTime;

use taquin_solver::named;

use super::id::{FolderName, JobId};
use crate::jobs::spec::JobSpec;

/// State of a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum JobState {
    /// Nothing was done yet.
    Queued,
    /// Chunks are made, or wait for workers.
    Running,
    /// All parts exist and are checked.
    Finalizing,
    /// All parts exist and the manifest lists them.
    Completed,
    /// It was cancelled.
    Cancelled,
    /// Its files are damaged.
    Failed,
}

named!(JobState {
    Queued => "queued",
    Running => "running",
    Finalizing => "finalizing",
    Completed => "completed",
    Cancelled => "cancelled",
    Failed => "failed",
});

impl JobState {
    /// True if nothing is done any more.
    pub fn is_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Cancelled | Self::Failed)
    }
}

/// Why nothing is done for an unfinished job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WaitingFor {
    /// Requests need all workers.
    Requests,
    /// Other bulk work has the workers.
    OtherJobs,
    /// The disk is full, or the store cannot be read or written.
    Disk,
    /// Its labels depend on another version of the solver, or on other tables.
    Version,
    /// No worker takes chunks.
    Workers,
    /// The queue of chunks cannot be reached, or has no room.
    Queue,
}

named!(WaitingFor {
    Requests => "requests",
    OtherJobs => "other_jobs",
    Disk => "disk",
    Version => "version",
    Workers => "workers",
    Queue => "queue",
});

/// Boards and parts of a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct JobCounts {
    /// Boards, or rows of the input.
    pub boards: u64,
    /// Boards of the stored parts.
    pub done: u64,
    /// Rows of the stored parts without a label; `None` as long as parts that another process has stored are not
    /// counted.
    pub failed: Option<u64>,
    /// Parts that the complete job has.
    pub parts: u64,
    /// Stored parts.
    pub stored_parts: u64,
}

/// A job at a moment.
#[derive(Clone, PartialEq, Debug)]
pub struct JobView {
    /// Its id.
    pub id: JobId,
    /// Its state.
    pub state: JobState,
    /// When it was created.
    pub created: SystemTime,
    /// When it ended, not before it was created.
    pub ended: Option<SystemTime>,
    /// When it will be deleted, by the clock of the store.
    pub expires: Option<SystemTime>,
    /// Name of the folder with its files, below `data`, unless the record that names it is damaged.
    pub folder: Option<FolderName>,
    /// Its specification, unless that is damaged.
    pub spec: Option<JobSpec>,
    /// Its boards and parts.
    pub counts: JobCounts,
    /// Estimated processor time of the whole job, in seconds.
    pub core_seconds: f64,
    /// Boards a second, lately.
    pub rate: Option<f64>,
    /// Why nothing is done.
    pub waiting_for: Option<WaitingFor>,
    /// Why it failed.
    pub reason: Option<String>,
}

impl JobView {
    /// Seconds until all boards are done at the present rate.
    pub fn eta_seconds(&self) -> Option<u64> {
        let left = self.counts.boards - self.counts.done;
        let seconds = left as f64 / self.rate.filter(|rate| *rate > 0.0)?;
        Some(seconds.ceil() as u64)
    }
}
