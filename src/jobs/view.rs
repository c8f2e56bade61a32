//! The view of a job for clients.

use std::time::SystemTime;

use taquin_bulk::{FolderName, JobId, JobSpec};
use taquin_solver::named;

/// State of a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum JobState {
    /// No part is stored, and no chunk has begun since the start of this process.
    Queued,
    /// Workers make chunks, or chunks wait for workers.
    Running,
    /// All parts exist, and are being checked before the job completes.
    Finalizing,
    /// All parts exist, and the manifest lists all parts.
    Completed,
    /// The job was cancelled.
    Cancelled,
    /// The job cannot continue, for example because its files are damaged.
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
    /// Returns true if the job has ended, so that no work follows.
    pub fn is_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Cancelled | Self::Failed)
    }
}

/// The reason why an unfinished job makes no progress.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WaitingFor {
    /// Requests occupy all workers.
    Requests,
    /// Other bulk work occupies the workers.
    OtherJobs,
    /// The disk is full, the store is unreadable or unwritable, or the workers' store lacks the job.
    Disk,
    /// The job needs a process with another version of the solver, or with other pattern tables.
    Version,
    /// No worker takes chunks.
    Workers,
    /// The queue of chunks is unreachable or full.
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

/// Number of boards and parts of a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct JobCounts {
    /// Number of boards of the job. An invalid row of an input counts as a board.
    pub boards: u64,
    /// Number of boards in the stored parts.
    pub done: u64,
    /// Number of failed and invalid rows in the stored parts; `None` while the rows are not counted. If other processes
    /// make the chunks, the rows are counted when the job completes. For an unfinished job that this process continues
    /// after a restart, the rows are counted before the next chunk begins. If a job was cancelled or failed before the
    /// restart, the rows are not counted.
    pub failed: Option<u64>,
    /// Number of parts that the complete job has.
    pub parts: u64,
    /// Number of stored parts.
    pub stored_parts: u64,
}

/// A snapshot of a job.
#[derive(Clone, PartialEq, Debug)]
pub struct JobView {
    /// Id of the job.
    pub id: JobId,
    /// State of the job.
    pub state: JobState,
    /// Creation time.
    pub created: SystemTime,
    /// End time, which is at or after the creation time; `None` for an unfinished job.
    pub ended: Option<SystemTime>,
    /// Time at which the job expires, by the clock of the store; `None` for an unfinished job.
    pub expires: Option<SystemTime>,
    /// Name of the job's folder in `data`; `None` if the record is damaged.
    pub folder: Option<FolderName>,
    /// Specification of the job; `None` if the specification or the record is damaged.
    pub spec: Option<JobSpec>,
    /// Counts of boards and parts.
    pub counts: JobCounts,
    /// Estimated core time of the whole job, in seconds.
    pub core_seconds: f64,
    /// Recent rate, in boards per second; `None` if this process has seen too few new parts, or if the job has ended.
    pub rate: Option<f64>,
    /// The reason why the job makes no progress; `None` if the job makes progress or has ended.
    pub waiting_for: Option<WaitingFor>,
    /// The reason why the job failed; `None` if the job has not failed.
    pub reason: Option<String>,
}

impl JobView {
    /// Estimates the seconds until all boards are done at the present rate; `None` if the rate is unknown.
    pub fn eta_seconds(&self) -> Option<u64> {
        let left = self.counts.boards - self.counts.done;
        let seconds = left as f64 / self.rate.filter(|rate| *rate > 0.0)?;
        Some(seconds.ceil() as u64)
    }
}
