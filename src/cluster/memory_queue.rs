//! A queue in memory, for tests: the simplest that keeps the promises, and that breaks them when it is told to.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::queue::{Lease, Queue, QueueCounts, QueueError, Trouble};
use super::task::{Lane, Task};

/// A map behind a mutex.
#[derive(Debug)]
pub(super) struct MemoryQueue {
    state: Mutex<State>,
    changed: Notify,
    lease_time: Duration,
    /// Time for which a taker waits.
    take_time: Duration,
    is_down: AtomicBool,
    loses_ends: AtomicBool,
    is_breaking: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    tasks: BTreeMap<Task, Entry>,
    takers: [u64; 2],
    workers: u64,
    reports: HashSet<Trouble>,
    /// Counts the leases so far, their extensions, and the calls of `flush`.
    leases: u64,
    extensions: u64,
    flushes: u64,
    /// Most tasks that were in the queue at a time.
    most: usize,
}

#[derive(Debug, Default)]
struct Entry {
    deliveries: u64,
    /// The task waits from then on; with a lease, its end.
    from: Option<Instant>,
    lease: Option<u64>,
}

#[derive(Debug)]
pub(super) struct MemoryLease {
    queue: Arc<MemoryQueue>,
    task: Task,
    number: u64,
    deliveries: u64,
}

/// A queue with its handle, since leases need it.
#[derive(Clone, Debug)]
pub(super) struct SharedQueue(pub(super) Arc<MemoryQueue>);

impl SharedQueue {
    /// An empty queue.
    pub(super) fn new(lease_time: Duration, take_time: Duration) -> Self {
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
    /// Loses all tasks.
    pub(super) fn forget(&self) {
        self.state.lock().tasks.clear();
    }

    /// Loses all tasks at the next offer, which fails, as a server does whose files were removed.
    pub(super) fn break_at_offer(&self) {
        self.is_breaking.store(true, Ordering::Relaxed);
    }

    /// Hands out all tasks again that were handed out.
    pub(super) fn hand_out_again(&self) {
        self.state.lock().tasks.values_mut().for_each(|entry| *entry = Entry { lease: None, from: None, ..*entry });
        self.changed.notify_waiters();
    }

    /// Every call fails from now on, or none does.
    pub(super) fn set_down(&self, is_down: bool) {
        self.is_down.store(is_down, Ordering::Relaxed);
    }

    /// The ends of leases are lost from now on, or none is.
    pub(super) fn set_loses_ends(&self, loses_ends: bool) {
        self.loses_ends.store(loses_ends, Ordering::Relaxed);
    }

    /// How often leases were extended.
    pub(super) fn extensions(&self) -> u64 {
        self.state.lock().extensions
    }

    /// How often all that was sent has left.
    pub(super) fn flushes(&self) -> u64 {
        self.state.lock().flushes
    }

    /// How many tasks were handed out so far.
    pub(super) fn leases(&self) -> u64 {
        self.state.lock().leases
    }

    /// Most tasks that were in the queue at a time.
    pub(super) fn most(&self) -> usize {
        self.state.lock().most
    }

    fn check(&self) -> Result<(), QueueError> {
        if self.is_down.load(Ordering::Relaxed) { Err(QueueError::new("it is down")) } else { Ok(()) }
    }

    fn next(&self, lane: Lane) -> Option<(Task, u64, u64)> {
        let mut state = self.state.lock();
        let (now, number) = (Instant::now(), state.leases + 1);
        let is_free =
            |(task, entry): &(&Task, &mut Entry)| task.lane == lane && entry.from.is_none_or(|from| from <= now);
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

    async fn counts(&self, lane: Lane) -> Result<QueueCounts, QueueError> {
        self.0.check()?;
        let state = self.0.state.lock();
        let entries = || state.tasks.iter().filter(|(task, _)| task.lane == lane);
        let leased = entries().filter(|(_, entry)| entry.from.is_some()).count() as u64;
        let waiting = entries().count() as u64 - leased;
        Ok(QueueCounts { waiting, leased, takers: state.takers[lane as usize] })
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

    async fn take(&self, lane: Lane) -> Result<Option<MemoryLease>, QueueError> {
        const LOOK: Duration = Duration::from_millis(5);
        self.0.check()?;
        let _taker = Taker::new(&self.0, lane);
        let begun = Instant::now();
        loop {
            if let Some((task, number, deliveries)) = self.0.next(lane) {
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

/// Counts a call that waits for a task.
struct Taker<'q>(&'q MemoryQueue, Lane);

impl<'q> Taker<'q> {
    fn new(queue: &'q MemoryQueue, lane: Lane) -> Self {
        queue.state.lock().takers[lane as usize] += 1;
        Self(queue, lane)
    }
}

impl Drop for Taker<'_> {
    fn drop(&mut self) {
        self.0.state.lock().takers[self.1 as usize] -= 1;
    }
}

/// Counts a worker.
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
