//! A queue in memory for tests. It keeps the promises of a queue, and breaks them on request.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::queue::{Lease, Queue, QueueCounts, QueueError, Trouble};
use super::task::{Task, TaskClass};

#[derive(Debug)]
pub(crate) struct MemoryQueue {
    state: Mutex<QueueState>,
    changed: Notify,
    lease_time: Duration,
    /// Longest wait of a call of `take`.
    take_time: Duration,
    is_down: AtomicBool,
    loses_ends: AtomicBool,
    is_breaking: AtomicBool,
}

#[derive(Debug, Default)]
struct QueueState {
    tasks: BTreeMap<Task, Entry>,
    takers: [u64; 2],
    workers: u64,
    reports: HashSet<Trouble>,
    leases: u64,
    extensions: u64,
    flushes: u64,
    /// Largest number of tasks in the queue at a time.
    most: usize,
}

#[derive(Debug, Default)]
struct Entry {
    deliveries: u64,
    /// The task can be taken from this time on; for a leased task, the end of its lease.
    from: Option<Instant>,
    lease: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct MemoryLease {
    queue: Arc<MemoryQueue>,
    task: Task,
    number: u64,
    deliveries: u64,
}

/// A shared handle to the queue. Leases hold one too.
#[derive(Clone, Debug)]
pub(crate) struct SharedQueue(pub(crate) Arc<MemoryQueue>);

impl SharedQueue {
    pub(crate) fn new(lease_time: Duration, take_time: Duration) -> Self {
        Self(Arc::new(MemoryQueue {
            state: Mutex::default(),
            changed: Notify::new(),
            lease_time,
            take_time,
            is_down: AtomicBool::new(false),
            loses_ends: AtomicBool::new(false),
            is_breaking: AtomicBool::new(false),
        }))
    }
}

impl MemoryQueue {
    /// Drops all tasks.
    pub(crate) fn forget(&self) {
        self.state.lock().tasks.clear();
    }

    /// Makes the next offer drop all tasks and fail, like a server whose files were removed.
    pub(crate) fn break_at_offer(&self) {
        self.is_breaking.store(true, Ordering::Relaxed);
    }

    /// Ends all leases at once.
    pub(crate) fn hand_out_again(&self) {
        self.state.lock().tasks.values_mut().for_each(|entry| *entry = Entry { lease: None, from: None, ..*entry });
        self.changed.notify_waiters();
    }

    pub(crate) fn set_down(&self, is_down: bool) {
        self.is_down.store(is_down, Ordering::Relaxed);
    }

    /// Sets whether the ends of leases are lost.
    pub(crate) fn set_loses_ends(&self, loses_ends: bool) {
        self.loses_ends.store(loses_ends, Ordering::Relaxed);
    }

    pub(crate) fn extensions(&self) -> u64 {
        self.state.lock().extensions
    }

    /// Number of flushes so far.
    pub(crate) fn flushes(&self) -> u64 {
        self.state.lock().flushes
    }

    pub(crate) fn leases(&self) -> u64 {
        self.state.lock().leases
    }

    /// Largest number of tasks in the queue at a time.
    pub(crate) fn most(&self) -> usize {
        self.state.lock().most
    }

    fn check(&self) -> Result<(), QueueError> {
        if self.is_down.load(Ordering::Relaxed) { Err(QueueError::new("it is down")) } else { Ok(()) }
    }

    fn next(&self, class: TaskClass) -> Option<(Task, u64, u64)> {
        let mut state = self.state.lock();
        let (now, number) = (Instant::now(), state.leases + 1);
        let is_free =
            |(task, entry): &(&Task, &mut Entry)| task.class == class && entry.from.is_none_or(|from| from <= now);
        let (task, entry) = state.tasks.iter_mut().find(is_free)?;
        *entry = Entry { deliveries: entry.deliveries + 1, from: Some(now + self.lease_time), lease: Some(number) };
        let next = (*task, number, entry.deliveries);
        state.leases = number;
        Some(next)
    }
}

impl Queue for SharedQueue {
    type Lease = MemoryLease;

    async fn offer(&self, task: &Task) -> Result<(), QueueError> {
        self.0.check()?;
        if self.0.is_breaking.swap(false, Ordering::Relaxed) {
            self.0.forget();
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
        self.0.check()?;
        Ok(self.0.state.lock().tasks.keys().copied().collect())
    }

    async fn counts(&self, class: TaskClass) -> Result<QueueCounts, QueueError> {
        self.0.check()?;
        let state = self.0.state.lock();
        let entries = || state.tasks.iter().filter(|(task, _)| task.class == class);
        let leased = entries().filter(|(_, entry)| entry.from.is_some()).count() as u64;
        let waiting = entries().count() as u64 - leased;
        Ok(QueueCounts { waiting, leased, takers: state.takers[class as usize] })
    }

    async fn has_worker(&self) -> Result<bool, QueueError> {
        self.0.check()?;
        Ok(self.0.state.lock().workers > 0)
    }

    async fn attend(&self) {
        let _attendant = Attendant::new(&self.0);
        std::future::pending().await
    }

    async fn report(&self, trouble: Trouble) {
        self.0.state.lock().reports.insert(trouble);
    }

    async fn reports(&self) -> HashSet<Trouble> {
        std::mem::take(&mut self.0.state.lock().reports)
    }

    async fn take(&self, class: TaskClass) -> Result<Option<MemoryLease>, QueueError> {
        const LOOK: Duration = Duration::from_millis(5);
        self.0.check()?;
        let _taker = Taker::new(&self.0, class);
        let begun = Instant::now();
        loop {
            if let Some((task, number, deliveries)) = self.0.next(class) {
                return Ok(Some(MemoryLease { queue: Arc::clone(&self.0), task, number, deliveries }));
            }
            if begun.elapsed() >= self.0.take_time {
                return Ok(None);
            }
            let _ = timeout(LOOK, self.0.changed.notified()).await;
        }
    }

    async fn flush(&self) {
        self.0.state.lock().flushes += 1;
    }
}

/// Counts a waiting call of `take` until dropped.
struct Taker<'q>(&'q MemoryQueue, TaskClass);

impl<'q> Taker<'q> {
    fn new(queue: &'q MemoryQueue, class: TaskClass) -> Self {
        queue.state.lock().takers[class as usize] += 1;
        Self(queue, class)
    }
}

impl Drop for Taker<'_> {
    fn drop(&mut self) {
        self.0.state.lock().takers[self.1 as usize] -= 1;
    }
}

/// Counts a worker until dropped.
struct Attendant<'q>(&'q MemoryQueue);

impl<'q> Attendant<'q> {
    fn new(queue: &'q MemoryQueue) -> Self {
        queue.state.lock().workers += 1;
        Self(queue)
    }
}

impl Drop for Attendant<'_> {
    fn drop(&mut self) {
        self.0.state.lock().workers -= 1;
    }
}

impl MemoryLease {
    fn with_entry(&self, change: impl FnOnce(&mut Entry)) {
        let mut state = self.queue.state.lock();
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
        self.queue.state.lock().extensions += 1;
        self.with_entry(|entry| entry.from = Some(Instant::now() + self.queue.lease_time));
        Ok(())
    }

    async fn done(&self) -> Result<(), QueueError> {
        self.queue.check()?;
        if !self.queue.loses_ends.load(Ordering::Relaxed) {
            self.queue.state.lock().tasks.remove(&self.task);
        }
        Ok(())
    }

    async fn release(&self, pause: Duration) -> Result<(), QueueError> {
        self.queue.check()?;
        if !self.queue.loses_ends.load(Ordering::Relaxed) {
            self.with_entry(|entry| *entry = Entry { from: Some(Instant::now() + pause), lease: None, ..*entry });
        }
        Ok(())
    }
}
