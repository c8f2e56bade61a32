//! Jobs on many machines: files in a bucket, and a queue that hands out chunks (docs/adr/0050).
//!
//! The files are the truth, and the queue is disposable. Only this part names the crates of a store and of a queue.

mod queue;
mod task;

pub use queue::{Lease, Queue, QueueCounts, QueueError};
pub use task::{Task, Work};
