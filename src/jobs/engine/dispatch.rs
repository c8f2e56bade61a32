//! What makes the chunks of unfinished jobs.

use std::fmt::Debug;
use std::sync::Arc;

use super::job::Job;

/// Has the chunks of unfinished jobs made, one way or another.
pub trait Dispatch: Debug + Send + Sync {
    /// Compares what is being done with what is to be done: for these jobs everything that is missing, and for all
    /// others nothing. The engine calls it every two seconds and whenever a job was created or cancelled, on a thread
    /// that may block. Errors are logged, as the next call tries again.
    fn reconcile(&self, unfinished: &[Arc<Job>]);

    /// True if anything works on jobs now.
    fn has_worker(&self) -> bool;

    /// True if other processes make the chunks, so that the store alone says what is done.
    fn makes_elsewhere(&self) -> bool {
        false
    }
}
