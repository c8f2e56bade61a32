//! Selects the next tasks for the queue, with fair shares for owners and jobs.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use taquin_bulk::FolderName;
use taquin_cluster::{QueueCounts, Task, TaskClass, Work};

use super::refusals::Refusals;
use crate::jobs::job::Job;
use crate::jobs::owner::JobOwner;

/// Maximum estimated core time of a job with quick tasks, in seconds. The tasks of longer jobs are bulk tasks.
const QUICK: f64 = 10.0;

pub(crate) fn class_of(job: &Job) -> TaskClass {
    if job.record.core_seconds <= QUICK { TaskClass::Quick } else { TaskClass::Bulk }
}

/// Returns the number of tasks to add to the queue. `ended` is the number of tasks that have left the queue since the
/// last comparison, without refused tasks. The queue should have one waiting task for each waiting call of a worker. In
/// addition, the queue should have one spare task, and either a quarter of the number of leased tasks or twice `ended`,
/// whichever is more. The queue is kept short, so that workers soon get the tasks of another owner.
pub(crate) fn places(counts: QueueCounts, ended: u64) -> usize {
    let wanted = counts.takers + (counts.leased / 4).max(2 * ended) + 1;
    wanted.saturating_sub(counts.waiting) as usize
}

/// Selects tasks for `places` places in the queue. Each place goes to the owner with the fewest tasks in the queue, and
/// to that owner's job with the fewest tasks in the queue. `tasks` are the tasks in the queue. A task for which
/// `may_offer` returns false is not selected.
pub(crate) fn share(
    jobs: &[&Arc<Job>],
    places: usize,
    tasks: &HashSet<Task>,
    refusals: &Refusals,
    may_offer: impl Fn(&Task) -> bool,
) -> Vec<Task> {
    let mut of_jobs: HashMap<FolderName, usize> = HashMap::new();
    tasks.iter().for_each(|task| *of_jobs.entry(task.folder).or_default() += 1);
    let mut owners: HashMap<JobOwner, (usize, BinaryHeap<JobShare>)> = HashMap::new();
    for job in jobs {
        let out = of_jobs.get(&job.record.folder).copied().unwrap_or_default();
        let (of_owner, shares) = owners.entry(job.record.owner).or_default();
        *of_owner += out;
        let next = next_tasks(job, places.min(refusals.room(job.record.folder, out)), &may_offer);
        shares.push(JobShare { out: Reverse(out), folder: job.record.folder, next });
    }
    let mut shares: Vec<BinaryHeap<JobShare>> = Vec::new();
    let mut turns = BinaryHeap::new();
    for (at, (out, of_owner)) in owners.into_values().enumerate() {
        turns.push((Reverse(out), at));
        shares.push(of_owner);
    }
    let mut chosen = Vec::new();
    while chosen.len() < places
        && let Some((Reverse(out), at)) = turns.pop()
    {
        // A job without further tasks is removed from the heap. An owner without further jobs is removed as well.
        let Some(mut share) = shares[at].pop() else { continue };
        let Some(task) = share.next.pop_front() else {
            turns.push((Reverse(out), at));
            continue;
        };
        chosen.push(task);
        share.out.0 += 1;
        shares[at].push(share);
        turns.push((Reverse(out + 1), at));
    }
    chosen
}

/// The next tasks of a job, and the number `out` of the job's tasks in the queue. The greatest share comes next; the
/// greatest share has the smallest `out`.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct JobShare {
    out: Reverse<usize>,
    folder: FolderName,
    next: VecDeque<Task>,
}

/// Returns the next tasks of a job: at most `count` missing chunks, or the end task if all parts exist. Skips each task
/// for which `may_offer` returns false.
fn next_tasks(job: &Job, count: usize, may_offer: impl Fn(&Task) -> bool) -> VecDeque<Task> {
    let task = |work| Task { class: class_of(job), job: job.id(), folder: job.record.folder, work };
    let (mut tasks, mut is_complete) = (VecDeque::new(), true);
    job.missing_chunks(|chunk| {
        is_complete = false;
        let next = task(Work::Chunk(chunk));
        if tasks.len() < count && may_offer(&next) {
            tasks.push_back(next);
        }
        tasks.len() < count
    });
    if is_complete {
        tasks.extend(Some(task(Work::End)).filter(|end| may_offer(end)));
    }
    tasks
}
