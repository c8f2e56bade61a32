//! Admission control. Limits the number of jobs in the pool, and estimates `Retry-After` for rejected jobs.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Limits the number of jobs in the pool. Running jobs and queued jobs count.
#[derive(Debug)]
pub(crate) struct Admission {
    capacity: usize,
    workers: u32,
    admitted: Mutex<AdmittedJobs>,
    /// Moving average of the recorded worker times of jobs, in microseconds; 0 before the first record.
    average_micros: AtomicU64,
}

#[derive(Debug, Default)]
struct AdmittedJobs {
    arrivals: u64,
    /// Deadline and arrival number of each admitted job. A job ends at its deadline, or soon afterwards, if the job has
    /// not ended before.
    deadlines: BTreeSet<(Instant, u64)>,
    /// Retry times that rejected clients have received. Each estimate removes the times that have passed.
    retry_times: VecDeque<Instant>,
    /// Time when a worker time was last recorded. A job records its worker time when its search or other work ends.
    /// `None` before the first record.
    last_end: Option<Instant>,
}

/// Permission of a job to be in the pool. Dropping the permit makes room for another job.
#[derive(Debug)]
pub(crate) struct AdmissionPermit {
    admission: Arc<Admission>,
    key: (Instant, u64),
}

impl AdmissionPermit {
    /// Adds the worker time of the job to the moving average.
    pub(crate) fn record_duration(&self, worked: Duration) {
        self.admission.record_duration(worked);
    }
}

impl Drop for AdmissionPermit {
    fn drop(&mut self) {
        self.admission.admitted.lock().deadlines.remove(&self.key);
    }
}

impl Admission {
    /// Upper bound of the `Retry-After` estimate.
    const MAX_RETRY_AFTER: Duration = Duration::from_secs(300);
    /// Number of seconds over which clients with the same retry time are spread.
    const SPREAD_SECONDS: u64 = 4;

    pub(crate) fn new(capacity: usize, workers: usize) -> Arc<Self> {
        Arc::new(Self {
            capacity,
            workers: workers as u32,
            admitted: Mutex::default(),
            average_micros: AtomicU64::new(0),
        })
    }

    /// Admits a job with this deadline. If the pool is full, returns the `Retry-After` estimate as the error.
    pub(crate) fn try_admit(self: &Arc<Self>, deadline: Instant) -> Result<AdmissionPermit, Duration> {
        let mut admitted = self.admitted.lock();
        if admitted.deadlines.len() >= self.capacity {
            return Err(self.retry_after(&mut admitted, deadline));
        }
        admitted.arrivals += 1;
        let key = (deadline, admitted.arrivals);
        admitted.deadlines.insert(key);
        Ok(AdmissionPermit { admission: Arc::clone(self), key })
    }

    /// Adds the worker time of an ended job to the moving average.
    pub(crate) fn record_duration(&self, worked: Duration) {
        let (micros, average) = (worked.as_micros() as u64, self.average_micros.load(Ordering::Relaxed));
        let average = if average == 0 { micros } else { (7 * average + micros) / 8 };
        self.average_micros.store(average, Ordering::Relaxed);
        self.admitted.lock().last_end = Some(Instant::now());
    }

    /// Returns the `Retry-After` estimate for a job whose deadline passed in the queue.
    pub(crate) fn retry_after_waiting(&self, deadline: Instant) -> Duration {
        self.retry_after(&mut self.admitted.lock(), deadline)
    }

    /// Estimates the time until the pool can admit a rejected client.
    ///
    /// The clients get different times, so that they do not all retry at once. The n-th client with a pending retry
    /// gets the estimated time at which n admitted jobs have ended. Once there is a client for each admitted job,
    /// further clients get the same times plus at most 3 seconds, because the running time of the next jobs is unknown.
    /// So the estimate hardly exceeds the end of the last admitted job, whatever the number of rejected clients.
    fn retry_after(&self, admitted: &mut AdmittedJobs, deadline: Instant) -> Duration {
        let now = Instant::now();
        admitted.retry_times.retain(|retry_time| *retry_time > now);
        let (before, places) = (admitted.retry_times.len(), admitted.deadlines.len().max(1));
        let nth = before % places;
        let latest = admitted.deadlines.iter().nth(nth).map_or(deadline, |(deadline, _)| *deadline);
        let latest = latest.saturating_duration_since(now);
        let wait = self.likely(admitted, now, nth as u32).map_or(latest, |likely| latest.min(likely));
        let apart = Duration::from_secs((before / places) as u64 % Self::SPREAD_SECONDS);
        let wait = (wait.max(Duration::from_secs(1)) + apart).min(Self::MAX_RETRY_AFTER);
        // This limit bounds the memory. More retry times would change the estimate little.
        if admitted.retry_times.len() < 4 * self.capacity.max(64) {
            admitted.retry_times.push_back(now + wait);
        }
        wait
    }

    /// Returns the time until `nth` + 1 more jobs have ended, at the recent rate. Returns `None` if no job has ended
    /// yet. Also returns `None` if no job has ended for a long time, because the running jobs then take longer than the
    /// average.
    fn likely(&self, admitted: &AdmittedJobs, now: Instant, nth: u32) -> Option<Duration> {
        let since_last = now.saturating_duration_since(admitted.last_end?);
        let average = Duration::from_micros(self.average_micros.load(Ordering::Relaxed));
        // The estimate uses one and a half times the average, because jobs often exceed the average.
        let interval = average.saturating_mul(3) / (2 * self.workers);
        let is_recent = since_last <= (2 * interval).max(Duration::from_secs(1));
        (is_recent && !average.is_zero()).then(|| interval.saturating_mul(nth + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn seconds(wait: Duration) -> u64 {
        wait.as_secs_f64().ceil() as u64
    }

    fn reject(admission: &Arc<Admission>) -> u64 {
        seconds(admission.try_admit(Instant::now() + 10 * SECOND).expect_err("there is no place"))
    }

    #[test]
    fn rejections_behind_one_long_search_do_not_raise_the_estimate() {
        let admission = Admission::new(1, 1);
        let _running = admission.try_admit(Instant::now() + 12 * SECOND).unwrap();
        for nth in 0..200 {
            assert_eq!(reject(&admission), 12 + nth % 4, "the search has ended by then");
        }
    }

    #[test]
    fn short_jobs_before_a_long_one_do_not_lower_the_estimate_for_long() {
        let admission = Admission::new(1, 1);
        drop(admission.try_admit(Instant::now()).unwrap());
        admission.record_duration(Duration::from_millis(5));
        let _running = admission.try_admit(Instant::now() + 12 * SECOND).unwrap();
        assert_eq!(reject(&admission), 1, "jobs end quickly");
        // No job has ended for two seconds, so the recent rate does not count.
        admission.admitted.lock().last_end = Instant::now().checked_sub(2 * SECOND);
        admission.admitted.lock().retry_times.clear();
        assert_eq!(reject(&admission), 12);
    }

    #[test]
    fn clients_are_spread_over_the_times_of_all_places() {
        let admission = Admission::new(3, 1);
        let [first, _second, _third] =
            [4, 8, 12].map(|time| admission.try_admit(Instant::now() + time * SECOND).unwrap());
        let waits: Vec<u64> = (0..7).map(|_| reject(&admission)).collect();
        assert_eq!(waits, [4, 8, 12, 5, 9, 13, 6]);
        // The estimate follows the rate at which jobs end, if that rate gives an earlier time than the deadlines.
        admission.record_duration(2 * SECOND);
        drop(first);
        admission.admitted.lock().retry_times.clear();
        let _fourth = admission.try_admit(Instant::now() + 12 * SECOND).unwrap();
        let waits: Vec<u64> = (0..4).map(|_| reject(&admission)).collect();
        assert_eq!(waits, [3, 6, 9, 4]);
    }
}
