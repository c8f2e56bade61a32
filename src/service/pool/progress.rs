//! What is seen of a search while it goes on.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{SetOnce, broadcast};

use crate::domain::Path;
use crate::search::{Observer, Progress};

/// A solution that a search has on its way, shorter than those before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// The moves.
    pub path: Path,
    /// What was proven by then: no solution is shorter.
    pub lower_bound: u32,
    /// Since the search was asked for.
    pub elapsed: Duration,
}

/// How far a search is, for any number of those who want to know. The search writes here and waits for nobody.
#[derive(Debug)]
pub(super) struct Sight {
    since: Instant,
    admitted: SetOnce<()>,
    expanded: AtomicU64,
    generated: AtomicU64,
    lower_bound: AtomicU32,
    threshold: AtomicU32,
    solutions: Mutex<Solutions>,
}

#[derive(Debug, Default)]
struct Solutions {
    best: Option<Arc<Found>>,
    /// There once somebody watches.
    told: Option<broadcast::Sender<Arc<Found>>>,
}

/// Solutions that are kept for watchers who do not come to look: of more, they miss the oldest.
const KEPT: usize = 64;

/// No threshold.
const NONE: u32 = u32::MAX;

impl Default for Sight {
    fn default() -> Self {
        Self {
            since: Instant::now(),
            admitted: SetOnce::new(),
            expanded: AtomicU64::new(0),
            generated: AtomicU64::new(0),
            lower_bound: AtomicU32::new(0),
            threshold: AtomicU32::new(NONE),
            solutions: Mutex::default(),
        }
    }
}

impl Sight {
    /// Tells that the search has its place in the house.
    pub(super) fn admit(&self) {
        // Whoever told it before told the same.
        let _ = self.admitted.set(());
    }

    /// Waits for that.
    pub(super) async fn admitted(&self) {
        self.admitted.wait().await;
    }

    /// Since the search was asked for.
    pub(super) fn elapsed(&self) -> Duration {
        self.since.elapsed()
    }

    /// How far the search is; no figure ever falls but the threshold's.
    pub(super) fn progress(&self) -> Progress {
        let threshold = self.threshold.load(Ordering::Relaxed);
        Progress {
            expanded: self.expanded.load(Ordering::Relaxed),
            generated: self.generated.load(Ordering::Relaxed),
            lower_bound: self.lower_bound(),
            threshold: (threshold != NONE).then_some(threshold),
        }
    }

    /// What is proven so far.
    pub(super) fn lower_bound(&self) -> u32 {
        self.lower_bound.load(Ordering::Relaxed)
    }

    /// The best solution so far, and from now on all that are shorter.
    pub(super) fn watch(&self) -> (Option<Arc<Found>>, broadcast::Receiver<Arc<Found>>) {
        let mut solutions = self.solutions();
        let told = solutions.told.get_or_insert_with(|| broadcast::Sender::new(KEPT));
        let receiver = told.subscribe();
        (solutions.best.clone(), receiver)
    }

    /// Whether a solution was found.
    pub(super) fn has_solution(&self) -> bool {
        self.solutions().best.is_some()
    }

    fn solutions(&self) -> MutexGuard<'_, Solutions> {
        // What it guards is whole after a panic elsewhere.
        self.solutions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Sight {
    fn reached(&self, progress: Progress) {
        self.expanded.fetch_max(progress.expanded, Ordering::Relaxed);
        self.generated.fetch_max(progress.generated, Ordering::Relaxed);
        self.lower_bound.fetch_max(progress.lower_bound, Ordering::Relaxed);
        self.threshold.store(progress.threshold.unwrap_or(NONE), Ordering::Relaxed);
    }

    fn found(&self, path: &Path) {
        let mut solutions = self.solutions();
        if solutions.best.as_ref().is_some_and(|best| best.path.len() <= path.len()) {
            return;
        }
        let found = Found { path: path.clone(), lower_bound: self.lower_bound(), elapsed: self.elapsed() };
        let found = Arc::new(found);
        solutions.best = Some(Arc::clone(&found));
        // That nobody watches any more is no matter.
        let _ = solutions.told.as_ref().map(|told| told.send(found));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Move;

    fn path(moves: usize) -> Path {
        vec![Move::Up; moves].into()
    }

    #[test]
    fn figures_never_fall() {
        let sight = Sight::default();
        let further = Progress { expanded: 1024, generated: 2000, lower_bound: 8, threshold: Some(10) };
        sight.reached(further);
        assert_eq!(sight.progress(), further);
        sight.reached(Progress { expanded: 512, generated: 1000, lower_bound: 0, threshold: None });
        assert_eq!(sight.progress(), Progress { threshold: None, ..further });
    }

    #[test]
    fn who_comes_later_sees_the_best_and_then_the_rest() {
        let sight = Sight::default();
        sight.found(&path(9));
        sight.found(&path(7));
        let (best, mut rest) = sight.watch();
        assert_eq!(best.unwrap().path.len(), 7);
        for moves in [8, 7, 5, 5, 3] {
            sight.found(&path(moves));
        }
        assert_eq!(rest.try_recv().unwrap().path.len(), 5);
        assert_eq!(rest.try_recv().unwrap().path.len(), 3);
        assert!(rest.try_recv().is_err());
    }

    #[test]
    fn who_does_not_look_costs_no_more_than_so_many() {
        let sight = Sight::default();
        let (_, mut rest) = sight.watch();
        (1..=10 * KEPT).rev().for_each(|moves| sight.found(&path(moves)));
        assert!(matches!(rest.try_recv(), Err(broadcast::error::TryRecvError::Lagged(_))));
        assert_eq!(rest.try_recv().unwrap().path.len(), KEPT, "the oldest that is left");
    }
}
