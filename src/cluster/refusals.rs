//! Tasks that workers cannot do: those of one job must not fill the queue, nor take the places of other jobs.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::queue::LEASE_TIME;
use super::task::Task;
use crate::jobs::{FolderName, WaitingFor};

/// What workers have lately refused and made, by the folder of the job.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    refused: HashMap<FolderName, Refused>,
    /// When there last was a new part.
    made: HashMap<FolderName, Instant>,
}

#[derive(Debug)]
struct Refused {
    why: WaitingFor,
    last: Instant,
    /// The tasks that rest, and since when.
    tasks: HashMap<Task, Instant>,
}

/// Time for which a refused task is not offered again.
const REST: Duration = LEASE_TIME;

/// Time for which a refusal counts, and a part of another worker.
const REFUSAL_TIME: Duration = LEASE_TIME.saturating_mul(3);

/// Tasks of a job that no worker makes which are out or rest at a time.
const TRIALS: usize = 8;

/// Resting tasks of a job that some workers make, and others refuse.
const TRIALS_BESIDE: usize = 256;

impl Refusals {
    /// Notes that a worker has refused a task.
    pub(super) fn note(&mut self, task: Task, why: WaitingFor) {
        let now = Instant::now();
        let new = || Refused { why, last: now, tasks: HashMap::new() };
        let refused = self.refused.entry(task.folder).or_insert_with(new);
        (refused.why, refused.last) = (why, now);
        refused.tasks.insert(task, now);
    }

    /// Notes that there are new parts of a job.
    pub(super) fn note_parts(&mut self, folder: FolderName) {
        self.made.insert(folder, Instant::now());
    }

    /// Forgets what was too long ago.
    pub(super) fn forget_old(&mut self) {
        self.made.retain(|_, made| made.elapsed() < REFUSAL_TIME);
        self.refused.retain(|_, refused| refused.last.elapsed() < REFUSAL_TIME);
        for refused in self.refused.values_mut() {
            refused.tasks.retain(|_, since| since.elapsed() < REST);
        }
    }

    /// True if a task rests.
    pub(super) fn has(&self, task: &Task) -> bool {
        self.refused.get(&task.folder).is_some_and(|refused| refused.tasks.contains_key(task))
    }

    /// How many tasks of a job may be offered, if it has so many in the queue.
    pub(super) fn room(&self, folder: FolderName, out: usize) -> usize {
        match self.refused.get(&folder) {
            None => usize::MAX,
            Some(refused) if self.is_made(folder) => TRIALS_BESIDE.saturating_sub(refused.tasks.len()),
            Some(refused) => TRIALS.saturating_sub(refused.tasks.len() + out),
        }
    }

    /// Why no worker makes a job.
    pub(super) fn obstacle(&self, folder: FolderName) -> Option<WaitingFor> {
        self.refused.get(&folder).filter(|_| !self.is_made(folder)).map(|refused| refused.why)
    }

    fn is_made(&self, folder: FolderName) -> bool {
        self.made.get(&folder).is_some_and(|made| made.elapsed() < REFUSAL_TIME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::task::{Lane, Work};

    fn task(chunk: u64) -> Task {
        let (job, folder) = ("1".repeat(32).parse().unwrap(), "2".repeat(32).parse().unwrap());
        Task { lane: Lane::Bulk, job, folder, work: Work::Chunk(chunk) }
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
