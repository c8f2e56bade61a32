//! A queue in memory for tests.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::queue::{Lease, Queue, QueueCounts, QueueError, WorkerTrouble};
use crate::task::{Task, TaskClass};

/// A queue in memory for tests. Clones and leases share the queue. The queue keeps the promises of [`Queue`], and
/// simulates failures on request.
#[derive(Clone, Debug)]
pub struct MemoryQueue(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<QueueState>,
    changed: Notify,
    lease_time: Duration,
    is_down: AtomicBool,
    loses_ends: AtomicBool,
    is_breaking: AtomicBool,
}

#[derive(Debug, Default)]
struct QueueState {
    tasks: BTreeMap<Task, Entry>,
    takers: [u64; 2],
    workers: u64,
    reports: HashSet<WorkerTrouble>,
    leases: u64,
    extensions: u64,
    flushes: u64,
    /// Largest number of tasks that were in the queue at one time.
    most: usize,
}

#[derive(Debug, Default)]
struct Entry {
    deliveries: u64,
    /// For a task that is not leased, the time from which the task can be taken, or `None` for at once. For a leased
    /// task, the end of its lease.
    from: Option<Instant>,
    lease: Option<u64>,
}

/// A task handed out by a [`MemoryQueue`].
#[derive(Debug)]
pub struct MemoryLease {
    queue: MemoryQueue,
    task: Task,
    number: u64,
    deliveries: u64,
}

/// Longest wait of a call of `take`.
const TAKE_TIME: Duration = Duration::from_secs(30);

impl MemoryQueue {
    /// Creates an empty queue with this lease time.
    pub fn new(lease_time: Duration) -> Self {
        Self(Arc::new(Shared {
            state: Mutex::default(),
            changed: Notify::new(),
            lease_time,
            is_down: AtomicBool::new(false),
            loses_ends: AtomicBool::new(false),
            is_breaking: AtomicBool::new(false),
        }))
    }

    /// Drops all tasks.
    pub fn forget(&self) {
        self.0.state.lock().tasks.clear();
    }

    /// Makes the next offer drop all tasks and fail, like a server whose files were removed.
    pub fn break_at_offer(&self) {
        self.0.is_breaking.store(true, Ordering::Relaxed);
    }

    /// Ends all leases and pauses, so that the queue hands out the tasks again.
    pub fn hand_out_again(&self) {
        self.0.state.lock().tasks.values_mut().for_each(|entry| *entry = Entry { lease: None, from: None, ..*entry });
        self.0.changed.notify_waiters();
    }

    /// Sets whether the queue is down. While the queue is down, each call that can return a [`QueueError`] fails.
    pub fn set_down(&self, is_down: bool) {
        self.0.is_down.store(is_down, Ordering::Relaxed);
    }

    /// Sets whether the queue ignores [`Lease::done`] and [`Lease::release`]. The leases then expire instead.
    pub fn set_loses_ends(&self, loses_ends: bool) {
        self.0.loses_ends.store(loses_ends, Ordering::Relaxed);
    }

    /// Number of lease extensions so far.
    pub fn extensions(&self) -> u64 {
        self.0.state.lock().extensions
    }

    /// Number of flushes so far.
    pub fn flushes(&self) -> u64 {
        self.0.state.lock().flushes
    }

    /// Number of leases so far.
    pub fn leases(&self) -> u64 {
        self.0.state.lock().leases
    }

    /// Largest number of tasks that were in the queue at one time.
    pub fn most(&self) -> usize {
        self.0.state.lock().most
    }

    fn check(&self) -> Result<(), QueueError> {
        if self.0.is_down.load(Ordering::Relaxed) { Err(QueueError::new("it is down")) } else { Ok(()) }
    }

    fn next(&self, class: TaskClass) -> Option<(Task, u64, u64)> {
        let mut state = self.0.state.lock();
        let (now, number) = (Instant::now(), state.leases + 1);
        let is_free =
            |(task, entry): &(&Task, &mut Entry)| task.class == class && entry.from.is_none_or(|from| from <= now);
        let (task, entry) = state.tasks.iter_mut().find(is_free)?;
        *entry = Entry { deliveries: entry.deliveries + 1, from: Some(now + self.0.lease_time), lease: Some(number) };
        let next = (*task, number, entry.deliveries);
        state.leases = number;
        Some(next)
    }
}

impl Queue for MemoryQueue {
    type Lease = MemoryLease;

    async fn offer(&self, task: &Task) -> Result<(), QueueError> {
        self.check()?;
        if self.0.is_breaking.swap(false, Ordering::Relaxed) {
            self.forget();
            return Err(QueueError::new("it has lost its files"));
        }
        let mut state = self.0.state.lock();
        state.tasks.entry(*task).or_default();
        state.most = state.most.max(state.tasks.len());
        drop(state);
        self.0.changed.notify_waiters();
        Ok(())
    }

    async fn tasks(&self) -> Result<HashSet<Task>, QueueError> {
        self.check()?;
        Ok(self.0.state.lock().tasks.keys().copied().collect())
    }

    async fn counts(&self, class: TaskClass) -> Result<QueueCounts, QueueError> {
        self.check()?;
        let state = self.0.state.lock();
        let entries = || state.tasks.iter().filter(|(task, _)| task.class == class);
        let leased = entries().filter(|(_, entry)| entry.from.is_some()).count() as u64;
        let waiting = entries().count() as u64 - leased;
        Ok(QueueCounts { waiting, leased, takers: state.takers[class as usize] })
    }

    async fn has_worker(&self) -> Result<bool, QueueError> {
        self.check()?;
        Ok(self.0.state.lock().workers > 0)
    }

    async fn attend(&self) {
        let _attendant = Counted::new(self, |state| &mut state.workers);
        std::future::pending().await
    }

    async fn report(&self, trouble: WorkerTrouble) {
        self.0.state.lock().reports.insert(trouble);
    }

    async fn reports(&self) -> HashSet<WorkerTrouble> {
        std::mem::take(&mut self.0.state.lock().reports)
    }

    async fn take(&self, class: TaskClass) -> Result<Option<MemoryLease>, QueueError> {
        const LOOK: Duration = Duration::from_millis(5);
        self.check()?;
        let _taker = match class {
            TaskClass::Bulk => Counted::new(self, |state| &mut state.takers[0]),
            TaskClass::Quick => Counted::new(self, |state| &mut state.takers[1]),
        };
        let begun = Instant::now();
        loop {
            if let Some((task, number, deliveries)) = self.next(class) {
                return Ok(Some(MemoryLease { queue: self.clone(), task, number, deliveries }));
            }
            if begun.elapsed() >= TAKE_TIME {
                return Ok(None);
            }
            let _ = timeout(LOOK, self.0.changed.notified()).await;
        }
    }

    fn lease_time(&self) -> Duration {
        self.0.lease_time
    }

    async fn flush(&self) {
        self.0.state.lock().flushes += 1;
    }
}

/// Adds one to a count of the queue. Dropping the `Counted` subtracts one.
struct Counted<'q>(&'q MemoryQueue, fn(&mut QueueState) -> &mut u64);

impl<'q> Counted<'q> {
    fn new(queue: &'q MemoryQueue, count: fn(&mut QueueState) -> &mut u64) -> Self {
        *count(&mut queue.0.state.lock()) += 1;
        Self(queue, count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        let Self(queue, count) = self;
        *count(&mut queue.0.state.lock()) -= 1;
    }
}

impl MemoryLease {
    fn with_entry(&self, change: impl FnOnce(&mut Entry)) {
        let mut state = self.queue.0.state.lock();
        if let Some(entry) = state.tasks.get_mut(&self.task).filter(|entry| entry.lease == Some(self.number)) {
            change(entry);
        }
    }
}

impl Lease for MemoryLease {
    fn task(&self) -> &Task {
        &self.task
    }

    fn deliveries(&self) -> u64 {
        self.deliveries
    }

    async fn extend(&self) -> Result<(), QueueError> {
        self.queue.check()?;
        self.queue.0.state.lock().extensions += 1;
        self.with_entry(|entry| entry.from = Some(Instant::now() + self.queue.0.lease_time));
        Ok(())
    }

    async fn done(&self) -> Result<(), QueueError> {
        self.queue.check()?;
        if !self.queue.0.loses_ends.load(Ordering::Relaxed) {
            self.queue.0.state.lock().tasks.remove(&self.task);
        }
        Ok(())
    }

    async fn release(&self, pause: Duration) -> Result<(), QueueError> {
        self.queue.check()?;
        if !self.queue.0.loses_ends.load(Ordering::Relaxed) {
            self.with_entry(|entry| *entry = Entry { from: Some(Instant::now() + pause), lease: None, ..*entry });
        }
        Ok(())
    }
}
