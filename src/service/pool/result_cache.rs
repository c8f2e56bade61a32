//! Cache of reports, and single flight: concurrent equal jobs share one search.

use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use futures_util::future::{FutureExt, Shared, WeakShared};
use moka::sync::Cache;
use parking_lot::Mutex;
use taquin_solver::SearchRequest;

use super::progress::SearchProgress;
use crate::service::job::{Report, ServiceError};

/// Result of a search.
type SearchResult = Result<Arc<Report>, ServiceError>;
/// Future that returns the result of a search.
type Pending = Pin<Box<dyn Future<Output = SearchResult> + Send>>;

/// Size of a report with its request, in bytes, above which the insertion of the report runs pending evictions at once.
const LARGE: usize = 64 << 10;

/// A search that several callers share and may observe. When the last caller drops its copy, the search is dropped.
#[derive(Debug)]
pub(crate) struct SharedSearch {
    outcome: Shared<Pending>,
    progress: Arc<SearchProgress>,
}

/// Caches repeatable reports within a memory limit, and runs one search for concurrent equal jobs.
#[derive(Debug)]
pub(crate) struct ResultCache {
    reports: Cache<SearchRequest, Arc<Report>>,
    in_flight: Mutex<HashMap<SearchRequest, InFlightSearch>>,
    next_number: AtomicU64,
}

#[derive(Debug)]
struct InFlightSearch {
    number: u64,
    outcome: WeakShared<Pending>,
    progress: Arc<SearchProgress>,
}

impl SharedSearch {
    /// Returns the progress of the search.
    pub(crate) fn progress(&self) -> &Arc<SearchProgress> {
        &self.progress
    }
}

impl Future for SharedSearch {
    type Output = SearchResult;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<SearchResult> {
        self.outcome.poll_unpin(context)
    }
}

/// Number of entries of a cache, and their memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CacheUsage {
    /// Number of entries.
    pub entries: u64,
    /// Memory of all entries, in bytes.
    pub bytes: u64,
}

impl CacheUsage {
    /// Runs the pending evictions of a cache, and returns the number of entries and their memory.
    pub(crate) fn of<K: Hash + Eq + Send + Sync + 'static, V: Clone + Send + Sync + 'static>(
        cache: &Cache<K, V>,
    ) -> Self {
        cache.run_pending_tasks();
        Self { entries: cache.entry_count(), bytes: cache.weighted_size() }
    }
}

impl ResultCache {
    /// Creates a cache that evicts reports once all entries together exceed `bytes` bytes.
    pub(crate) fn new(bytes: u64) -> Arc<Self> {
        let weigh =
            |_: &SearchRequest, report: &Arc<Report>| u32::try_from(report.bytes_with_request()).unwrap_or(u32::MAX);
        Arc::new(Self {
            reports: Cache::builder().max_capacity(bytes).weigher(weigh).build(),
            in_flight: Mutex::default(),
            next_number: AtomicU64::new(0),
        })
    }

    /// Returns the cached report of a job; `None` if no report is cached.
    pub(crate) fn find(&self, job: &SearchRequest) -> Option<Arc<Report>> {
        self.reports.get(job)
    }

    /// Joins the unfinished search of an equal job. If there is no such search, calls `search` to create a search. The
    /// second result is true if the search is new.
    pub(crate) fn join<F>(
        self: &Arc<Self>,
        job: &SearchRequest,
        search: impl FnOnce(Arc<SearchProgress>) -> F,
    ) -> (SharedSearch, bool)
    where
        F: Future<Output = Result<Report, ServiceError>> + Send + 'static,
    {
        let mut in_flight = self.in_flight.lock();
        if let Some(InFlightSearch { outcome, progress, .. }) = in_flight.get(job)
            && let Some(outcome) = outcome.upgrade()
        {
            return (SharedSearch { outcome, progress: Arc::clone(progress) }, false);
        }
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let guard = RemoveOnDrop { cache: Arc::clone(self), job: job.clone(), number };
        let progress = Arc::new(SearchProgress::default());
        let search = search(Arc::clone(&progress));
        let outcome = async move {
            let report = Arc::new(search.await?);
            if report.is_repeatable() {
                guard.cache.insert(guard.job.clone(), &report);
            }
            Ok(report)
        };
        let outcome = outcome.boxed().shared();
        if let Some(outcome) = outcome.downgrade() {
            in_flight.insert(job.clone(), InFlightSearch { number, outcome, progress: Arc::clone(&progress) });
        }
        (SharedSearch { outcome, progress }, true)
    }

    fn insert(&self, job: SearchRequest, report: &Arc<Report>) {
        self.reports.insert(job, Arc::clone(report));
        // An insertion takes effect at once. Evictions follow only some dozens of insertions later, which is too late
        // for a large report.
        if report.bytes_with_request() > LARGE {
            self.reports.run_pending_tasks();
        }
    }

    /// Returns the number of entries of the cache, and their memory.
    pub(crate) fn usage(&self) -> CacheUsage {
        CacheUsage::of(&self.reports)
    }
}

/// Guard in the future of a search. The guard removes the search from `in_flight` when the search has ended, or when
/// the last caller has dropped the search.
struct RemoveOnDrop {
    cache: Arc<ResultCache>,
    job: SearchRequest,
    number: u64,
}

impl Drop for RemoveOnDrop {
    fn drop(&mut self) {
        let mut in_flight = self.cache.in_flight.lock();
        // An equal job may have started another search meanwhile.
        if in_flight.get(&self.job).is_some_and(|flight| flight.number == self.number) {
            in_flight.remove(&self.job);
        }
    }
}
