//! Jobs on many machines: files in a bucket, and a queue that hands out chunks (docs/adr/0050).
//!
//! The files are the truth, and the queue is disposable. Only this part names the crates of a store and of a queue.

mod bucket;
mod connection;
mod figures;
mod jetstream;
mod login;
mod maker;
#[cfg(test)]
mod memory_queue;
mod objects;
mod offers;
mod pulse;
mod queue;
mod reading;
mod refusals;
mod shares;
mod silence;
mod suspects;
mod task;
mod worker;

pub use bucket::BucketError;
pub use figures::WorkerFigures;
pub use jetstream::{JetStream, QueueRole, QueueSettings};
pub use maker::Maker;
pub use objects::{OpenError, find_files, open_files};
pub use offers::Offers;
pub use queue::{Lease, Queue, QueueCounts, QueueError, Trouble};
pub use task::{Lane, Task, Work};
pub use worker::Worker;

#[cfg(test)]
mod tests;
