//! Progress of a running search: counters, bounds and solutions found so far.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use taquin_solver::{Observer, Path, Progress};
use tokio::sync::{OnceCell, SetOnce, broadcast};

/// A solution that was found during a search. The solution is shorter than all earlier solutions of the search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundSolution {
    /// The moves of the solution.
    pub path: Path,
    /// Greatest lower bound on the solution length that was known when this solution was found.
    pub lower_bound: u32,
    /// Time from the submission of the search to the solution.
    pub elapsed: Duration,
}

/// Progress of one search. Any number of subscribers may read the progress. The search never waits for a subscriber.
#[derive(Debug)]
pub(crate) struct SearchProgress {
    since: Instant,
    admitted: SetOnce<()>,
    /// Set once the initial solution has been reported, or once there turns out to be no initial solution.
    pub(crate) initial: OnceCell<()>,
    expanded: AtomicU64,
    generated: AtomicU64,
    lower_bound: AtomicU32,
    threshold: AtomicU32,
    solutions: Mutex<FoundSolutions>,
}

#[derive(Debug, Default)]
struct FoundSolutions {
    best: Option<Arc<FoundSolution>>,
    /// Sender to all subscribers; `None` before the first subscription.
    sender: Option<broadcast::Sender<Arc<FoundSolution>>>,
}

/// Number of solutions that are buffered for each subscriber. A subscriber that is further behind loses the oldest
/// solutions.
const CHANNEL_CAPACITY: usize = 64;

/// Stored threshold of a search that has no threshold.
const NO_THRESHOLD: u32 = u32::MAX;

impl Default for SearchProgress {
    fn default() -> Self {
        Self {
            since: Instant::now(),
            admitted: SetOnce::new(),
            initial: OnceCell::new(),
            expanded: AtomicU64::new(0),
            generated: AtomicU64::new(0),
            lower_bound: AtomicU32::new(0),
            threshold: AtomicU32::new(NO_THRESHOLD),
            solutions: Mutex::default(),
        }
    }
}

impl SearchProgress {
    /// Records that the pool has admitted the search.
    pub(crate) fn set_admitted(&self) {
        // A second call of `set` fails, which does no harm.
        let _ = self.admitted.set(());
    }

    /// Waits until the pool has admitted the search.
    pub(crate) async fn admitted(&self) {
        self.admitted.wait().await;
    }

    /// Returns the time since the submission.
    pub(crate) fn elapsed(&self) -> Duration {
        self.since.elapsed()
    }

    /// Returns the current counters, lower bound and threshold. Only the threshold may fall or become `None` again.
    pub(crate) fn progress(&self) -> Progress {
        let threshold = self.threshold.load(Ordering::Relaxed);
        Progress {
            expanded: self.expanded.load(Ordering::Relaxed),
            generated: self.generated.load(Ordering::Relaxed),
            lower_bound: self.lower_bound(),
            threshold: (threshold != NO_THRESHOLD).then_some(threshold),
        }
    }

    /// Returns the greatest reported lower bound on the solution length; 0 before the first report.
    pub(crate) fn lower_bound(&self) -> u32 {
        self.lower_bound.load(Ordering::Relaxed)
    }

    /// Returns the shortest solution so far, and a receiver of the later solutions. The solution is `None` before the
    /// first solution.
    pub(crate) fn subscribe(&self) -> (Option<Arc<FoundSolution>>, broadcast::Receiver<Arc<FoundSolution>>) {
        let mut solutions = self.solutions.lock();
        let sender = solutions.sender.get_or_insert_with(|| broadcast::Sender::new(CHANNEL_CAPACITY));
        let receiver = sender.subscribe();
        (solutions.best.clone(), receiver)
    }

    /// Returns the shortest solution so far; `None` before the first solution.
    pub(crate) fn best(&self) -> Option<Path> {
        self.solutions.lock().best.as_ref().map(|best| best.path.clone())
    }

    /// Returns true if the search has found a solution. A shorter solution may follow.
    pub(crate) fn has_solution(&self) -> bool {
        self.solutions.lock().best.is_some()
    }
}

impl Observer for SearchProgress {
    fn reached(&self, progress: Progress) {
        self.expanded.fetch_max(progress.expanded, Ordering::Relaxed);
        self.generated.fetch_max(progress.generated, Ordering::Relaxed);
        self.lower_bound.fetch_max(progress.lower_bound, Ordering::Relaxed);
        self.threshold.store(progress.threshold.unwrap_or(NO_THRESHOLD), Ordering::Relaxed);
    }

    fn found(&self, path: &Path) {
        let mut solutions = self.solutions.lock();
        if solutions.best.as_ref().is_some_and(|best| best.path.len() <= path.len()) {
            return;
        }
        let found = FoundSolution { path: path.clone(), lower_bound: self.lower_bound(), elapsed: self.elapsed() };
        let found = Arc::new(found);
        solutions.best = Some(Arc::clone(&found));
        // Without a subscriber, there is no sender or no receiver, and nothing is sent.
        let _ = solutions.sender.as_ref().map(|sender| sender.send(found));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use taquin_solver::Move;

    fn path(moves: usize) -> Path {
        vec![Move::Up; moves].into()
    }

    #[test]
    fn counters_never_fall() {
        let search = SearchProgress::default();
        let further = Progress { expanded: 1024, generated: 2000, lower_bound: 8, threshold: Some(10) };
        search.reached(further);
        assert_eq!(search.progress(), further);
        search.reached(Progress { expanded: 512, generated: 1000, lower_bound: 0, threshold: None });
        assert_eq!(search.progress(), Progress { threshold: None, ..further });
    }

    #[test]
    fn a_late_subscriber_gets_the_best_and_then_shorter_ones() {
        let search = SearchProgress::default();
        search.found(&path(9));
        search.found(&path(7));
        let (best, mut rest) = search.subscribe();
        assert_eq!(best.unwrap().path.len(), 7);
        for moves in [8, 7, 5, 5, 3] {
            search.found(&path(moves));
        }
        assert_eq!(rest.try_recv().unwrap().path.len(), 5);
        assert_eq!(rest.try_recv().unwrap().path.len(), 3);
        assert!(rest.try_recv().is_err());
    }

    #[test]
    fn the_buffer_of_a_slow_subscriber_is_bounded() {
        let search = SearchProgress::default();
        let (_, mut rest) = search.subscribe();
        (1..=10 * CHANNEL_CAPACITY).rev().for_each(|moves| search.found(&path(moves)));
        assert!(matches!(rest.try_recv(), Err(broadcast::error::TryRecvError::Lagged(_))));
        assert_eq!(rest.try_recv().unwrap().path.len(), CHANNEL_CAPACITY, "the oldest left");
    }
}
