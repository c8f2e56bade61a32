//! Bulk work: many boards in time slices, beside all jobs.

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use taquin_bulk::{FailureObserver, LabelControl};
use taquin_solver::search::{Help, Helpers, MainWork};

use super::scheduler::RunPermit;
use crate::service::job::ServiceError;
use crate::service::metrics::BoardCounts;

/// Work in time slices. Several slices may run at the same time, each on its own thread.
pub trait BulkWork: Send + Sync {
    /// Runs one slice on this thread, for about [`SliceContext::TIME`].
    ///
    /// Searches of the slice must use the flags of [`SliceContext::cancel`], and the context as their [`Helpers`].
    /// Between boards that take microseconds, the slice calls [`Helpers::pause`].
    fn run_slice(&self, context: &SliceContext<'_>) -> Slice;

    /// Ends the work early: a slice has panicked, or the service shuts down. No further slice begins; running slices
    /// stop at their next poll. The lane makes this call at most once. The call must not block.
    fn aborted(&self, error: ServiceError);
}

/// Result of a slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slice {
    /// Whether more slices follow.
    pub end: SliceEnd,
    /// Boards of the slice, counted by outcome.
    pub boards: BoardCounts,
}

/// Whether more slices follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SliceEnd {
    /// More slices may follow.
    More,
    /// No slice follows until [`BulkHandle::wake`](super::BulkHandle::wake), or until a parallel slice ends with
    /// `More`.
    Idle,
    /// No slice follows, because the work is done. Running slices continue.
    Done,
}

/// Worker and cancel flags of a slice.
pub struct SliceContext<'a> {
    permit: &'a RunPermit,
    cancel: [&'a AtomicBool; 2],
}

impl<'a> SliceContext<'a> {
    /// Worker time after which a slice should end, because other bulk work waits for a turn.
    pub const TIME: Duration = Duration::from_millis(20);

    pub(crate) fn new(permit: &'a RunPermit) -> Self {
        Self { permit, cancel: permit.cancellation.flags.each_ref().map(|flag| &**flag) }
    }

    /// The cancel flags. A raised flag ends the work.
    pub fn cancel(&self) -> &[&'a AtomicBool] {
        &self.cancel
    }

    /// True once the work is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.permit.cancellation.is_raised()
    }

    /// Returns the control that stops and pauses the labelling of rows, and reports failed searches to `failures`.
    pub fn control<'c>(&'c self, failures: &'c dyn FailureObserver) -> LabelControl<'c> {
        LabelControl { cancel: self.cancel(), helpers: Some(self), failures: Some(failures) }
    }

    /// True if a job, or a helper of a search, needs the worker. Costs one atomic load.
    pub fn should_pause(&self) -> bool {
        self.permit.must_yield()
    }

    /// Runs a closure, such as a table build, without the worker. Then blocks until the slice has a worker again, or is
    /// cancelled.
    pub fn without_worker<T>(&self, run: impl FnOnce() -> T) -> T {
        self.permit.without_worker(run)
    }

    /// True once the slice has used its [time](Self::TIME). Costs a reading of the clock.
    pub fn is_spent(&self) -> bool {
        self.permit.times().0 >= Self::TIME
    }
}

/// The helpers pause a search while more important work needs the worker. They provide no threads, because bulk work is
/// fastest with one thread for each board.
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
