//! Places in the house, and when there will be one.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// As many jobs as may be in hand: those that search, and those that wait.
#[derive(Debug)]
pub(super) struct Places {
    count: usize,
    workers: u32,
    taken: Mutex<Taken>,
    /// A moving average of the time that jobs take of a worker, in microseconds.
    micros: AtomicU64,
}

#[derive(Debug, Default)]
struct Taken {
    arrivals: u64,
    /// When each job in hand has ended at the latest.
    deadlines: BTreeSet<(Instant, u64)>,
    /// When those come back who were sent away.
    promised: VecDeque<Instant>,
}

/// A job's place; free when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    key: (Instant, u64),
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.taken().deadlines.remove(&self.key);
    }
}

impl Places {
    /// The longest time that anybody is sent away for.
    const LONGEST: Duration = Duration::from_secs(300);

    pub(super) fn new(count: usize, workers: usize) -> Arc<Self> {
        Arc::new(Self { count, workers: workers as u32, taken: Mutex::default(), micros: AtomicU64::new(0) })
    }

    /// A place for a job that has ended by its deadline, at once or not at all: then it is said when
    /// to come back.
    pub(super) fn take(self: &Arc<Self>, deadline: Instant) -> Result<Place, Duration> {
        let mut taken = self.taken();
        if taken.deadlines.len() >= self.count {
            return Err(self.come_back(&mut taken, deadline));
        }
        taken.arrivals += 1;
        let key = (deadline, taken.arrivals);
        taken.deadlines.insert(key);
        Ok(Place { places: Arc::clone(self), key })
    }

    /// Learns how long a job took of a worker.
    pub(super) fn learn(&self, worked: Duration) {
        let (micros, average) = (worked.as_micros() as u64, self.micros.load(Ordering::Relaxed));
        self.micros.store(if average == 0 { micros } else { (7 * average + micros) / 8 }, Ordering::Relaxed);
    }

    /// When a job that waited in vain may come back.
    pub(super) fn another_time(&self, deadline: Instant) -> Duration {
        self.come_back(&mut self.taken(), deadline)
    }

    /// When there is likely to be a place for one more than were sent away before: each is promised a
    /// time of its own, or all would come back to the same few places.
    ///
    /// Jobs end at the rate at which they did lately. Whatever the rate, a place is free when the job
    /// there has no time left, and all are once for each time limit that goes by.
    fn come_back(&self, taken: &mut Taken, deadline: Instant) -> Duration {
        let now = Instant::now();
        taken.promised.retain(|promised| *promised > now);
        let before = taken.promised.len();
        let in_hand = taken.deadlines.len().max(1);
        let free = taken.deadlines.iter().nth(before % in_hand).map_or(deadline, |(deadline, _)| *deadline);
        // Nobody is back on the stroke: a second for each round.
        let round = deadline.saturating_duration_since(now) + Duration::from_secs(1);
        let rounds = (before / in_hand) as u32;
        let surely = free.saturating_duration_since(now) + round.saturating_mul(rounds);
        let average = Duration::from_micros(self.micros.load(Ordering::Relaxed));
        // Half as much again, for averages are often exceeded.
        let likely = average.saturating_mul(3 * (before as u32 + 1)) / (2 * self.workers);
        let wait = if average.is_zero() { surely } else { surely.min(likely) };
        let wait = wait.clamp(Duration::from_secs(1), Self::LONGEST);
        // Those who find a whole place taken again are few: more are not remembered.
        if taken.promised.len() < 4 * self.count.max(64) {
            taken.promised.push_back(now + wait);
        }
        wait
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        // What it guards is whole after a panic elsewhere.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
