//! Tasks that workers have refused. A refused task rests: the dispatch does not offer the task for a while. So refused
//! tasks do not fill the queue, and do not displace the tasks of other jobs.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use taquin_bulk::FolderName;
use taquin_cluster::Task;

use crate::jobs::view::WaitingFor;

/// Recent refusals, and times of recent new parts, by job folder.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    refused: HashMap<FolderName, Refused>,
    /// Time of the last new part of each job.
    made: HashMap<FolderName, Instant>,
}

#[derive(Debug)]
struct Refused {
    why: WaitingFor,
    last: Instant,
    /// The resting tasks, each with the time when a worker last refused the task.
    tasks: HashMap<Task, Instant>,
}

/// Lease time of the queue.
pub(crate) const LEASE_TIME: Duration = if cfg!(test) { Duration::from_secs(2) } else { taquin_cluster::LEASE_TIME };

/// Time for which a refused task rests.
const REST: Duration = LEASE_TIME;

/// Time for which the record of a refusal or of a new part is kept.
const REFUSAL_TIME: Duration = LEASE_TIME.saturating_mul(3);

/// Maximum number of queued and resting tasks of a job, if no worker makes parts of the job.
const TRIALS: usize = 8;

/// Maximum number of resting tasks of a job, if some workers make parts of the job and other workers refuse its tasks.
const TRIALS_BESIDE: usize = 256;

impl Refusals {
    /// Records that a worker has refused a task for the reason `why`.
    pub(crate) fn note(&mut self, task: Task, why: WaitingFor) {
        let now = Instant::now();
        let new = || Refused { why, last: now, tasks: HashMap::new() };
        let refused = self.refused.entry(task.folder).or_insert_with(new);
        (refused.why, refused.last) = (why, now);
        refused.tasks.insert(task, now);
    }

    /// Records new parts of a job.
    pub(crate) fn note_parts(&mut self, folder: FolderName) {
        self.made.insert(folder, Instant::now());
    }

    /// Removes old records.
    pub(crate) fn forget_old(&mut self) {
        self.made.retain(|_, made| made.elapsed() < REFUSAL_TIME);
        self.refused.retain(|_, refused| refused.last.elapsed() < REFUSAL_TIME);
        for refused in self.refused.values_mut() {
            refused.tasks.retain(|_, since| since.elapsed() < REST);
        }
    }

    /// Returns true if a task rests.
    pub(crate) fn has(&self, task: &Task) -> bool {
        self.refused.get(&task.folder).is_some_and(|refused| refused.tasks.contains_key(task))
    }

    /// Returns the maximum number of further tasks of a job in the queue. The job already has `out` tasks in the queue.
    pub(crate) fn room(&self, folder: FolderName, out: usize) -> usize {
        match self.refused.get(&folder) {
            None => usize::MAX,
            Some(refused) if self.is_made(folder) => TRIALS_BESIDE.saturating_sub(refused.tasks.len()),
            Some(refused) => TRIALS.saturating_sub(refused.tasks.len() + out),
        }
    }

    /// Returns the reason why no worker makes parts of a job. Returns `None` if the job has recent parts, or if no task
    /// of the job was refused recently.
    pub(crate) fn obstacle(&self, folder: FolderName) -> Option<WaitingFor> {
        self.refused.get(&folder).filter(|_| !self.is_made(folder)).map(|refused| refused.why)
    }

    fn is_made(&self, folder: FolderName) -> bool {
        self.made.get(&folder).is_some_and(|made| made.elapsed() < REFUSAL_TIME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use taquin_cluster::{TaskClass, Work};

    fn task(chunk: u64) -> Task {
        let (job, folder) = ("1".repeat(32).parse().unwrap(), "2".repeat(32).parse().unwrap());
        Task { class: TaskClass::Bulk, job, folder, work: Work::Chunk(chunk) }
    }

    #[test]
    fn a_worker_that_refuses_a_job_whose_parts_others_make_hardly_slows_it() {
        let (mut refusals, folder) = (Refusals::default(), task(0).folder);
        refusals.note_parts(folder);
        refusals.note(task(0), WaitingFor::Version);
        assert_eq!((refusals.room(folder, 500), refusals.obstacle(folder)), (TRIALS_BESIDE - 1, None));
    }

    #[test]
    fn a_refused_job_has_few_tasks_until_a_worker_makes_parts() {
        let (mut refusals, folder) = (Refusals::default(), task(0).folder);
        assert_eq!((refusals.room(folder, 500), refusals.obstacle(folder)), (usize::MAX, None));
        refusals.note(task(0), WaitingFor::Version);
        assert!(refusals.has(&task(0)) && !refusals.has(&task(1)));
        assert_eq!((refusals.room(folder, 2), refusals.room(folder, 500)), (TRIALS - 3, 0));
        assert_eq!(refusals.obstacle(folder), Some(WaitingFor::Version));
        refusals.note_parts(folder);
        assert_eq!((refusals.room(folder, 500), refusals.obstacle(folder)), (TRIALS_BESIDE - 1, None));
        refusals.forget_old();
        assert!(refusals.has(&task(0)));
        std::thread::sleep(REST);
        refusals.forget_old();
        assert!(!refusals.has(&task(0)));
        assert_eq!(refusals.room(folder, 500), TRIALS_BESIDE);
    }
}
