//! Bulk work. Bulk work labels many boards in time slices, beside the jobs of the pool.

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use taquin_bulk::{FailureObserver, LabelControl};
use taquin_solver::search::{Help, Helpers, MainWork};

use super::scheduler::RunPermit;
use crate::service::job::ServiceError;
use crate::service::metrics::BoardCounts;

/// Work that runs in time slices. Several slices of the work may run at the same time, each on its own thread.
pub trait BulkWork: Send + Sync {
    /// Runs one slice on the caller's thread, for about [`SliceContext::TIME`].
    ///
    /// Searches of the slice must use the flags of [`SliceContext::cancel`], and must use the context as their
    /// [`Helpers`]. If boards take microseconds each, the slice must call [`Helpers::pause`] between boards.
    fn run_slice(&self, context: &SliceContext<'_>) -> Slice;

    /// Records that the work ends early, because a slice has panicked or the service shuts down. No further slice
    /// begins. Running slices stop at their next poll. The lane calls this function at most once. The function must not
    /// block.
    fn aborted(&self, error: ServiceError);
}

/// Result of a slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slice {
    /// Tells whether more slices of the work follow.
    pub end: SliceEnd,
    /// Boards of the slice, counted by outcome.
    pub boards: BoardCounts,
}

/// Tells whether more slices of the work follow after a slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SliceEnd {
    /// More slices may follow.
    More,
    /// No slice follows until the work is woken. [`BulkHandle::wake`](super::BulkHandle::wake) wakes the work, and so
    /// does a parallel slice that ends with `More`.
    Idle,
    /// The work is done, so no slice follows. Slices that run at this moment continue.
    Done,
}

/// The worker and the cancel flags of a slice.
pub struct SliceContext<'a> {
    permit: &'a RunPermit,
    cancel: [&'a AtomicBool; 2],
}

impl<'a> SliceContext<'a> {
    /// Worker time after which a slice should end, because other bulk work may wait for a turn.
    pub const TIME: Duration = Duration::from_millis(20);

    pub(crate) fn new(permit: &'a RunPermit) -> Self {
        Self { permit, cancel: permit.cancellation.flags.each_ref().map(|flag| &**flag) }
    }

    /// Returns the cancel flags. The work ends once a flag is set.
    pub fn cancel(&self) -> &[&'a AtomicBool] {
        &self.cancel
    }

    /// Returns true once the work is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.permit.cancellation.is_raised()
    }

    /// Returns the control for the labelling of rows. The control stops and pauses the labelling, and reports failed
    /// searches to `failures`.
    pub fn control<'c>(&'c self, failures: &'c dyn FailureObserver) -> LabelControl<'c> {
        LabelControl { cancel: self.cancel(), helpers: Some(self), failures: Some(failures) }
    }

    /// Returns true if a job or a helper of a search needs the worker. A call costs one atomic load.
    pub fn should_pause(&self) -> bool {
        self.permit.must_yield()
    }

    /// Releases the worker of the slice, and runs a closure, such as a table build. Then blocks until the slice has a
    /// worker again, or until the slice is cancelled.
    pub fn without_worker<T>(&self, run: impl FnOnce() -> T) -> T {
        self.permit.without_worker(run)
    }

    /// Returns true once the slice has used its [time](Self::TIME). A call reads the clock.
    pub fn is_spent(&self) -> bool {
        self.permit.times().0 >= Self::TIME
    }
}

/// Pauses a search while more important work needs the worker. Provides no helper threads, because bulk work is fastest
/// with one thread per board.
impl Helpers for SliceContext<'_> {
    fn work(&self, main: MainWork<'_>, _: &Help<'_>) {
        main(&|| ());
    }

    fn pause(&self) {
        self.permit.pause();
    }
}

impl fmt::Debug for SliceContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SliceContext").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}
