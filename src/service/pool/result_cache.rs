//! Answers that are kept, and searches that more than one waits for.

use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_util::future::{FutureExt, Shared, WeakShared};
use moka::sync::Cache;

use super::progress::Sight;
use crate::service::job::Job;
use crate::service::report::{Report, ServiceError};

/// What comes of a search.
pub(super) type Outcome = Result<Arc<Report>, ServiceError>;
/// The future of it.
type Pending = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// A report of more bytes has others give way at once.
const LARGE: usize = 64 << 10;

/// A search that any number of askers wait for, and may watch; dropped when the last of them is gone.
#[derive(Debug)]
pub(super) struct Flight {
    outcome: Shared<Pending>,
    sight: Arc<Sight>,
}

/// Keeps what would come out the same again, as much of it as fits, and makes one search of the same
/// question asked many times at once.
#[derive(Debug)]
pub(super) struct Answers {
    kept: Cache<Job, Arc<Report>>,
    in_flight: Mutex<HashMap<Job, InFlight>>,
    flights: AtomicU64,
}

#[derive(Debug)]
struct InFlight {
    number: u64,
    outcome: WeakShared<Pending>,
    sight: Arc<Sight>,
}

impl Flight {
    /// How far it is.
    pub(super) fn sight(&self) -> &Arc<Sight> {
        &self.sight
    }
}

impl Future for Flight {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        self.outcome.poll_unpin(context)
    }
}

/// What is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kept {
    /// Answers, or boards ahead of hints.
    pub entries: u64,
    /// Memory they take.
    pub bytes: u64,
}

impl Kept {
    /// What a cache holds just now.
    pub(in crate::service) fn of<K: Hash + Eq + Send + Sync + 'static, V: Clone + Send + Sync + 'static>(
        cache: &Cache<K, V>,
    ) -> Self {
        cache.run_pending_tasks();
        Self { entries: cache.entry_count(), bytes: cache.weighted_size() }
    }
}

impl Answers {
    /// So many bytes of them.
    pub(super) fn new(bytes: u64) -> Arc<Self> {
        let weigh = |_: &Job, report: &Arc<Report>| u32::try_from(report.bytes_with_job()).unwrap_or(u32::MAX);
        Arc::new(Self {
            kept: Cache::builder().max_capacity(bytes).weigher(weigh).build(),
            in_flight: Mutex::default(),
            flights: AtomicU64::new(0),
        })
    }

    /// The answer to a question asked before.
    pub(super) fn find(&self, job: &Job) -> Option<Arc<Report>> {
        self.kept.get(job)
    }

    /// Joins the search that answers a question, or begins it; whether it was begun.
    pub(super) fn join<F>(self: &Arc<Self>, job: &Job, search: impl FnOnce(Arc<Sight>) -> F) -> (Flight, bool)
    where
        F: Future<Output = Result<Report, ServiceError>> + Send + 'static,
    {
        let mut in_flight = self.in_flight();
        if let Some(InFlight { outcome, sight, .. }) = in_flight.get(job)
            && let Some(outcome) = outcome.upgrade()
        {
            return (Flight { outcome, sight: Arc::clone(sight) }, false);
        }
        let number = self.flights.fetch_add(1, Ordering::Relaxed);
        let landing = Landing { answers: Arc::clone(self), job: job.clone(), number };
        let sight = Arc::new(Sight::default());
        let search = search(Arc::clone(&sight));
        let outcome = async move {
            let report = Arc::new(search.await?);
            if report.is_repeatable() {
                landing.answers.keep(landing.job.clone(), &report);
            }
            Ok(report)
        };
        let outcome = outcome.boxed().shared();
        if let Some(outcome) = outcome.downgrade() {
            in_flight.insert(job.clone(), InFlight { number, outcome, sight: Arc::clone(&sight) });
        }
        (Flight { outcome, sight }, true)
    }

    fn keep(&self, job: Job, report: &Arc<Report>) {
        self.kept.insert(job, Arc::clone(report));
        // What is inserted is there at once; what has to give way for it goes some dozens of insertions later.
        if report.bytes_with_job() > LARGE {
            self.kept.run_pending_tasks();
        }
    }

    /// How much is kept.
    pub(super) fn kept(&self) -> Kept {
        Kept::of(&self.kept)
    }

    fn in_flight(&self) -> MutexGuard<'_, HashMap<Job, InFlight>> {
        // What it guards is whole after a panic elsewhere.
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a search off the list when it has ended, or nobody waits for it any more.
struct Landing {
    answers: Arc<Answers>,
    job: Job,
    number: u64,
}

impl Drop for Landing {
    fn drop(&mut self) {
        let mut in_flight = self.answers.in_flight();
        // The same question may have been asked again meanwhile.
        if in_flight.get(&self.job).is_some_and(|flight| flight.number == self.number) {
            in_flight.remove(&self.job);
        }
    }
}
