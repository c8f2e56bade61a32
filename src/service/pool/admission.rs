//! Admission control: the bound on jobs in the pool, and the Retry-After estimate for rejected ones.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

/// Bounds the number of jobs in the pool, running and queued.
#[derive(Debug)]
pub(crate) struct Admission {
    capacity: usize,
    workers: u32,
    admitted: Mutex<AdmittedJobs>,
    /// Moving average of the worker time of a job, in microseconds.
    average_micros: AtomicU64,
}

#[derive(Debug, Default)]
struct AdmittedJobs {
    arrivals: u64,
    /// The deadline of each admitted job, by which it has ended, and its number.
    deadlines: BTreeSet<(Instant, u64)>,
    /// The times at which rejected clients were asked to retry.
    retry_times: VecDeque<Instant>,
}

/// Admission of one job; dropping it admits another one.
#[derive(Debug)]
pub(crate) struct AdmissionPermit {
    admission: Arc<Admission>,
    key: (Instant, u64),
}

impl Drop for AdmissionPermit {
    fn drop(&mut self) {
        self.admission.admitted().deadlines.remove(&self.key);
    }
}

impl Admission {
    /// Upper bound of the Retry-After estimate.
    const MAX_RETRY_AFTER: Duration = Duration::from_secs(300);

    pub(crate) fn new(capacity: usize, workers: usize) -> Arc<Self> {
        Arc::new(Self {
            capacity,
            workers: workers as u32,
            admitted: Mutex::default(),
            average_micros: AtomicU64::new(0),
        })
    }

    /// Admits a job that ends by its deadline, or returns the time to wait before a retry.
    pub(crate) fn try_admit(self: &Arc<Self>, deadline: Instant) -> Result<AdmissionPermit, Duration> {
        let mut admitted = self.admitted();
        if admitted.deadlines.len() >= self.capacity {
            return Err(self.retry_after(&mut admitted, deadline));
        }
        admitted.arrivals += 1;
        let key = (deadline, admitted.arrivals);
        admitted.deadlines.insert(key);
        Ok(AdmissionPermit { admission: Arc::clone(self), key })
    }

    /// Adds the worker time of a finished job to the moving average.
    pub(crate) fn record_duration(&self, worked: Duration) {
        let (micros, average) = (worked.as_micros() as u64, self.average_micros.load(Ordering::Relaxed));
        let average = if average == 0 { micros } else { (7 * average + micros) / 8 };
        self.average_micros.store(average, Ordering::Relaxed);
    }

    /// The Retry-After estimate for a job whose deadline passed in the queue.
    pub(crate) fn retry_after_waiting(&self, deadline: Instant) -> Duration {
        self.retry_after(&mut self.admitted(), deadline)
    }

    /// Estimates when there will be room for one more job than the clients rejected earlier. Each client gets its own
    /// time, so that they do not all retry at once.
    ///
    /// The estimate is the smaller of two: the recent rate at which jobs ended, and the deadlines of the admitted jobs,
    /// by which they have ended in any case.
    fn retry_after(&self, admitted: &mut AdmittedJobs, deadline: Instant) -> Duration {
        let now = Instant::now();
        admitted.retry_times.retain(|retry_time| *retry_time > now);
        let before = admitted.retry_times.len();
        let jobs = admitted.deadlines.len().max(1);
        let free = admitted.deadlines.iter().nth(before % jobs).map_or(deadline, |(deadline, _)| *deadline);
        // Clients retry a little late: one second of slack for each round.
        let round = deadline.saturating_duration_since(now) + Duration::from_secs(1);
        let rounds = (before / jobs) as u32;
        let latest = free.saturating_duration_since(now) + round.saturating_mul(rounds);
        let average = Duration::from_micros(self.average_micros.load(Ordering::Relaxed));
        // One and a half times the average, because averages are often exceeded.
        let likely = average.saturating_mul(3 * (before as u32 + 1)) / (2 * self.workers);
        let wait = if average.is_zero() { latest } else { latest.min(likely) };
        let wait = wait.clamp(Duration::from_secs(1), Self::MAX_RETRY_AFTER);
        // Bounds memory: more retry times change the estimate little.
        if admitted.retry_times.len() < 4 * self.capacity.max(64) {
            admitted.retry_times.push_back(now + wait);
        }
        wait
    }

    fn admitted(&self) -> MutexGuard<'_, AdmittedJobs> {
        self.admitted.lock()
    }
}
