//! Jobs on many machines: files in a bucket, and a queue that hands out chunks (docs/adr/0024).
//!
//! The files are authoritative; the queue is disposable. No other module names the crates of object stores and NATS.

mod bucket;
mod connection;
mod figures;
mod jetstream;
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
pub use task::{Task, TaskClass, Work};
pub use worker::Worker;

#[cfg(test)]
mod tests;
