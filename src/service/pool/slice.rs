//! Bulk work: many boards in slices, beside all jobs.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use taquin_solver::search::{Help, Helpers, MainWork};

use super::scheduler::BulkPermit;
use crate::service::job::ServiceError;
use crate::service::metrics::BoardCounts;

/// Work that comes in slices. Several may run at the same time, each on a thread of its own.
pub trait BulkWork: Send + Sync {
    /// Runs one slice on this thread: boards for about [`SliceContext::TIME`].
    ///
    /// Searches get [`SliceContext::cancel`] and [`SliceContext::helpers`]. Between boards that take microseconds, the
    /// slice calls [`SliceContext::pause`].
    fn run_slice(&self, context: &SliceContext<'_>) -> Slice;

    /// The work ends before it is done: a slice has panicked, or the service shuts down. No other slice begins; those
    /// that run stop at their next poll. It is called at most once, and must not block.
    fn aborted(&self, error: ServiceError);
}

/// What a slice has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slice {
    /// What follows.
    pub end: SliceEnd,
    /// The boards of the slice.
    pub boards: BoardCounts,
}

/// What follows a slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SliceEnd {
    /// There may be more to do.
    More,
    /// There is nothing to do until [`BulkHandle::wake`](super::BulkHandle::wake).
    Idle,
    /// The work is done. No other slice begins; those that run continue.
    Done,
}

/// Worker and cancel flags of a slice.
pub struct SliceContext<'a> {
    permit: &'a BulkPermit,
    cancel: [&'a AtomicBool; 2],
}

impl<'a> SliceContext<'a> {
    /// Worker time of a slice. Other bulk work waits until its end.
    pub const TIME: Duration = Duration::from_millis(20);

    pub(crate) fn new(permit: &'a BulkPermit, cancel: [&'a AtomicBool; 2]) -> Self {
        Self { permit, cancel }
    }

    /// The flags that end the work when one of them is raised.
    pub fn cancel(&self) -> &[&'a AtomicBool] {
        &self.cancel
    }

    /// True if the work is to end.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.iter().any(|flag| flag.load(Ordering::Relaxed))
    }

    /// Pauses searches for more important work. No other thread helps them: in bulk, one thread for each board is
    /// fastest.
    pub fn helpers(&self) -> &dyn Helpers {
        self
    }

    /// True if more important work needs the worker. Costs as much as reading a number.
    pub fn should_pause(&self) -> bool {
        self.permit.is_wanted_back()
    }

    /// Blocks while more important work needs the worker, or until the work is cancelled.
    pub fn pause(&self) {
        self.permit.pause(&|| self.is_cancelled());
    }

    /// Runs what is no search without the worker, such as building tables. Then blocks until there is a worker again,
    /// or the work is cancelled.
    pub fn without_worker<T>(&self, run: impl FnOnce() -> T) -> T {
        self.permit.without_worker(&|| self.is_cancelled(), run)
    }

    /// True if the slice has used its [time](Self::TIME). Costs as much as a look at the clock.
    pub fn is_spent(&self) -> bool {
        self.permit.times().0 >= Self::TIME
    }
}

impl Helpers for SliceContext<'_> {
    fn work(&self, main: MainWork<'_>, _: &Help<'_>) {
        main(&|| ());
    }

    fn pause(&self) {
        SliceContext::pause(self);
    }
}

impl fmt::Debug for SliceContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SliceContext").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}
