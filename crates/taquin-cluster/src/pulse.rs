//! Extends the lease of a task while the work on the task makes progress.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use taquin_bulk::Progress;
use tokio::time::interval_at;

use crate::queue::Lease;

/// Tracks whether the work on a task makes progress.
#[derive(Debug)]
pub(crate) struct Pulse(Mutex<Phase>);

/// A phase of the work.
#[derive(Debug)]
struct Phase {
    /// Counter that grows while the work makes progress.
    progress: Arc<Progress>,
    /// Longest time without growth of `progress`. After a longer time, the work counts as stuck.
    patience: Duration,
    last: u64,
    moved: Instant,
}

impl Pulse {
    /// Creates a pulse. The first phase of the work reports no progress, and may take as long as `patience`.
    pub(crate) fn new(patience: Duration) -> Self {
        Self(Mutex::new(Phase::new(patience)))
    }

    /// Begins another phase, and returns the progress counter of the phase. The counter must grow within each
    /// period of `patience`.
    pub(crate) fn begin(&self, patience: Duration) -> Arc<Progress> {
        let phase = Phase::new(patience);
        let progress = Arc::clone(&phase.progress);
        *self.0.lock() = phase;
        progress
    }

    fn goes_on(&self) -> bool {
        let mut phase = self.0.lock();
        let count = phase.progress.labelled.load(Ordering::Relaxed);
        if count != phase.last {
            (phase.last, phase.moved) = (count, Instant::now());
        }
        phase.moved.elapsed() <= phase.patience
    }
}

impl Phase {
    fn new(patience: Duration) -> Self {
        Self { progress: Arc::default(), patience, last: 0, moved: Instant::now() }
    }
}

/// Runs the work on a task, and extends the lease of the task once in each `period` while the work makes progress.
pub(crate) async fn beating<T>(
    lease: &impl Lease,
    pulse: &Pulse,
    period: Duration,
    work: impl Future<Output = T>,
) -> T {
    tokio::select! {
        biased;
        done = work => done,
        done = beat(lease, pulse, period) => done,
    }
}

/// Extends a lease once in each `period` while the work makes progress. The future never completes.
async fn beat<T>(lease: &impl Lease, pulse: &Pulse, period: Duration) -> T {
    let mut beats = interval_at(tokio::time::Instant::now() + period, period);
    loop {
        beats.tick().await;
        if pulse.goes_on()
            && let Err(error) = lease.extend().await
        {
            tracing::debug!(target: "taquin::worker", task = %lease.task(), %error, "lease is not extended");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_goes_on_as_long_as_it_grows() {
        let pulse = Pulse::new(Duration::MAX);
        assert!(pulse.goes_on());
        let progress = pulse.begin(Duration::from_millis(50));
        assert!(pulse.goes_on());
        std::thread::sleep(Duration::from_millis(60));
        assert!(!pulse.goes_on());
        progress.labelled.fetch_add(1, Ordering::Relaxed);
        assert!(pulse.goes_on());
        std::thread::sleep(Duration::from_millis(60));
        assert!(!pulse.goes_on());
        pulse.begin(Duration::from_secs(60));
        assert!(pulse.goes_on());
    }
}
