//! A dispatch to workers on other machines. The dispatch keeps a queue filled with the next chunks of all jobs.

mod reading;
mod refusals;
mod shares;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use taquin_bulk::FolderName;
use taquin_cluster::{Queue, QueueCounts, QueueError, Task, TaskClass, WorkerTrouble};
use tokio::runtime::Handle;
use tracing::Level;

use self::reading::read_jobs;
use self::refusals::{LEASE_TIME, Refusals};
use self::shares::{class_of, places, share};
use super::dispatch::Dispatch;
use super::job::Job;
use super::view::WaitingFor;

/// A dispatch that offers tasks of all unfinished jobs to a queue. A job's missing chunks are offered in ascending
/// order. The next offer is for the owner with the fewest tasks in the queue.
///
/// Several processes may fill the same queue. The processes offer equal tasks, and the queue keeps one of several equal
/// tasks.
pub struct QueueDispatch<Q> {
    queue: Arc<Q>,
    runtime: Handle,
    memory: Mutex<Memory>,
    has_worker: AtomicBool,
    has_queue: AtomicBool,
    counts: Mutex<ClassCounts>,
}

/// Task counts by class, in the order of [`TaskClass::ALL`].
type ClassCounts = [QueueCounts; 2];

/// State that is kept between comparisons of the queue with the jobs.
#[derive(Default)]
struct Memory {
    /// Tasks that were in the queue at the last comparison or were offered then.
    tasks: HashSet<Task>,
    /// Tasks that have left the queue, each with the time when the dispatch noticed that the task was gone. Such a task
    /// is finished or was lost. A worker may still be doing a lost task.
    lost: HashMap<Task, Instant>,
    /// Time when the files of a job were last read, by job folder.
    read: HashMap<FolderName, Instant>,
    /// Time of the last report that a worker cannot read or write a job's files, by job folder. A new part of the job
    /// removes the entry.
    stuck: HashMap<FolderName, Instant>,
    /// Tasks that workers have refused.
    refusals: Refusals,
}

/// Interval of reads of a job's files while the job has no task in the queue.
const LOOK_PERIOD: Duration = Duration::from_secs(10);

/// Time for which a worker's report stays valid. A worker that still fails sends its next report within a shorter time.
const REPORT_TIME: Duration = Duration::from_secs(15);

/// Maximum number of concurrent offers to the queue.
const CONCURRENT_OFFERS: usize = 64;

impl<Q: Queue> QueueDispatch<Q> {
    /// Creates a dispatch to a queue. Needs a tokio runtime.
    pub fn new(queue: Arc<Q>) -> Self {
        Self {
            queue,
            runtime: Handle::current(),
            memory: Mutex::default(),
            has_worker: AtomicBool::new(false),
            has_queue: AtomicBool::new(true),
            counts: Mutex::default(),
        }
    }

    /// Returns the task counts at the last comparison, summed over all classes; `None` if the queue was unreachable.
    pub fn counts(&self) -> Option<QueueCounts> {
        let [bulk, quick] = *self.counts.lock();
        let counts = QueueCounts {
            waiting: bulk.waiting + quick.waiting,
            leased: bulk.leased + quick.leased,
            takers: bulk.takers + quick.takers,
        };
        self.has_queue.load(Ordering::Relaxed).then_some(counts)
    }

    /// Returns the counts and the tasks of the queue, and records whether the queue has a worker. The caller must ask
    /// the queue before reading the files of the jobs. Then the files contain the parts of all tasks that workers have
    /// finished and removed from the queue.
    async fn ask(&self) -> Result<(ClassCounts, HashSet<Task>), QueueError> {
        self.has_worker.store(self.queue.has_worker().await?, Ordering::Relaxed);
        let counts = [self.queue.counts(TaskClass::Bulk).await?, self.queue.counts(TaskClass::Quick).await?];
        Ok((counts, self.queue.tasks().await?))
    }

    /// Reads the progress of each job that has tasks in the queue, had tasks at the last comparison, or was not read
    /// for [`LOOK_PERIOD`]. Returns the unfinished jobs, except for jobs that could not be read.
    fn read_all<'j>(memory: &mut Memory, unfinished: &'j [Arc<Job>], tasks: &HashSet<Task>) -> Vec<&'j Arc<Job>> {
        let active: HashSet<FolderName> = memory.tasks.iter().chain(tasks).map(|task| task.folder).collect();
        let is_due = |job: &&Arc<Job>| {
            let read = memory.read.get(&job.record.folder);
            active.contains(&job.record.folder) || read.is_none_or(|read| read.elapsed() >= LOOK_PERIOD)
        };
        let (due, mut going): (Vec<&Arc<Job>>, Vec<&Arc<Job>>) = unfinished.iter().partition(is_due);
        for (job, read) in read_jobs(&due) {
            match read {
                Ok(_) if job.state().is_ended() => {}
                Ok(has_new_parts) => {
                    if has_new_parts {
                        memory.stuck.remove(&job.record.folder);
                        memory.refusals.note_parts(job.record.folder);
                    }
                    memory.read.insert(job.record.folder, Instant::now());
                    going.push(job);
                }
                Err(error) => {
                    let message = "job cannot be read";
                    tracing::event!(target: "taquin::jobs", Level::DEBUG, message, job.id = %job.id(), %error);
                    job.note_obstacle(WaitingFor::Disk);
                }
            }
        }
        let folders: HashSet<FolderName> = unfinished.iter().map(|job| job.record.folder).collect();
        memory.read.retain(|folder, _| folders.contains(folder));
        going
    }

    /// Selects the next offers, and records the offers in `memory`. `tasks` are the tasks in the queue.
    fn choose(memory: &mut Memory, going: &[&Arc<Job>], counts: ClassCounts, tasks: HashSet<Task>) -> Vec<Task> {
        let now = Instant::now();
        let gone: Vec<Task> = memory.tasks.difference(&tasks).copied().collect();
        memory.lost.retain(|task, noted| !tasks.contains(task) && now.duration_since(*noted) < LEASE_TIME);
        for task in &gone {
            // A finished task is recorded as lost too. The record does no harm, since the part of the task's chunk
            // exists.
            memory.lost.entry(*task).or_insert(now);
        }
        let refusals = &memory.refusals;
        let may_offer = |task: &Task| !tasks.contains(task) && !memory.lost.contains_key(task) && !refusals.has(task);
        let mut offers = Vec::new();
        for (class, counts) in [TaskClass::Bulk, TaskClass::Quick].into_iter().zip(counts) {
            let ended = gone.iter().filter(|task| task.class == class && !refusals.has(task)).count() as u64;
            let jobs: Vec<&Arc<Job>> = going.iter().copied().filter(|job| class_of(job) == class).collect();
            offers.extend(share(&jobs, places(counts, ended), &tasks, refusals, may_offer));
        }
        memory.tasks = tasks;
        memory.tasks.extend(&offers);
        offers
    }

    async fn offer(&self, offers: &[Task]) -> Result<(), QueueError> {
        for some in offers.chunks(CONCURRENT_OFFERS) {
            let offering = some.iter().map(|task| self.queue.offer(task));
            futures_util::future::try_join_all(offering).await?;
        }
        Ok(())
    }

    fn compare(&self, unfinished: &[Arc<Job>]) -> Result<(), QueueError> {
        let mut memory = self.memory.lock();
        memory.note(self.runtime.block_on(self.queue.reports()));
        let (counts, tasks) = match self.runtime.block_on(self.ask()) {
            Ok(asked) => asked,
            Err(error) => {
                // The progress of jobs is read and reported even if the queue is unreachable.
                let known = memory.tasks.clone();
                for job in Self::read_all(&mut memory, unfinished, &known) {
                    job.note_obstacle(WaitingFor::Queue);
                }
                return Err(error);
            }
        };
        let has_worker = self.has_worker.load(Ordering::Relaxed);
        *self.counts.lock() = counts;
        let going = Self::read_all(&mut memory, unfinished, &tasks);
        let offers = Self::choose(&mut memory, &going, counts, tasks);
        let mut of_jobs: HashMap<FolderName, usize> = HashMap::new();
        memory.tasks.iter().for_each(|task| *of_jobs.entry(task.folder).or_default() += 1);
        let offered = self.runtime.block_on(self.offer(&offers));
        let no_queue = offered.is_err().then_some(WaitingFor::Queue);
        for job in going {
            let folder = job.record.folder;
            let no_store = memory.stuck.contains_key(&folder).then_some(WaitingFor::Disk);
            let tasks = of_jobs.get(&folder).copied().unwrap_or_default();
            let obstacle = no_store.or(no_queue).or_else(|| memory.refusals.obstacle(folder));
            job.note_tasks(tasks, has_worker, obstacle);
        }
        if offered.is_err() {
            // Failed offers are removed from `memory`, so that the next comparison does not count them as lost. If the
            // queue has received some of these offers, the next comparison finds them in the queue.
            let offers: HashSet<Task> = offers.into_iter().collect();
            memory.tasks.retain(|task| !offers.contains(task));
        }
        offered
    }
}

impl Memory {
    /// Removes old worker reports, and records new reports.
    fn note(&mut self, reports: HashSet<WorkerTrouble>) {
        self.stuck.retain(|_, reported| reported.elapsed() < REPORT_TIME);
        self.refusals.forget_old();
        for report in reports {
            match report {
                WorkerTrouble::Store(folder) => drop(self.stuck.insert(folder, Instant::now())),
                WorkerTrouble::Solver(task) => self.refusals.note(task, WaitingFor::Version),
                WorkerTrouble::Missing(task) => self.refusals.note(task, WaitingFor::Disk),
            }
        }
    }
}

impl<Q: Queue> Dispatch for QueueDispatch<Q> {
    fn reconcile(&self, unfinished: &[Arc<Job>]) {
        let compared = self.compare(unfinished);
        let had_queue = self.has_queue.swap(compared.is_ok(), Ordering::Relaxed);
        match compared {
            Err(error) if had_queue => tracing::warn!(target: "taquin::jobs", %error, "jobs wait for the queue"),
            Ok(()) if !had_queue => tracing::info!(target: "taquin::jobs", "the queue is back"),
            _ => {}
        }
    }

    fn has_worker(&self) -> bool {
        self.has_worker.load(Ordering::Relaxed)
    }

    fn makes_elsewhere(&self) -> bool {
        true
    }
}

impl<Q> fmt::Debug for QueueDispatch<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueDispatch").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
