//! Labels jobs of sliding-tile puzzles on many machines (docs/adr/0024). The crate has stores of files, a queue that
//! hands out chunks of boards, and workers.
//!
//! A job is a [`StoredJob`](taquin_bulk::StoredJob) in the [`Files`](taquin_bulk::Files) of a store. A [`Queue`]
//! hands out a [`Task`] for each missing chunk. A [`Worker`] takes a task, labels the boards of the chunk with a
//! [`JobSolver`], and stores the labels as a part. The files are authoritative; the contents of the queue can be
//! restored from the files. A task that the queue lost is offered again. A worker that receives a task twice finds
//! the stored part and does nothing.
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::AtomicBool;
//! use std::time::Duration;
//!
//! use taquin_bulk::test_files::FilesInMemory;
//! use taquin_bulk::{
//!     Files, FolderName, JobBoards, JobId, JobSpec, LoadedTables, Recipe, RequestedLimits, Resources, StoredJob, Want,
//! };
//! use taquin_cluster::{JobSolver, LEASE_TIME, MemoryQueue, Queue, Task, TaskClass, Work, Worker, WorkerMetrics};
//! use taquin_solver::heuristic::Tier;
//! use taquin_solver::{Board, LazyTables, Size};
//!
//! #[derive(Debug, Default)]
//! struct Solver(LazyTables);
//!
//! impl JobSolver for Solver {
//!     fn serves(&self, spec: &JobSpec) -> bool {
//!         spec.is_served_by("1", Tier::Small)
//!     }
//!
//!     fn load_tables(&self, _: &JobSpec) -> LoadedTables {
//!         LoadedTables::default()
//!     }
//!
//!     fn resources<'a>(&'a self, cancel: &'a AtomicBool) -> Resources<'a> {
//!         Resources { tables: &self.0, threads: 1, search_memory: 64 << 20, cancel, failures: &() }
//!     }
//!
//!     fn panicked(&self) {}
//! }
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (store, queue): (Arc<dyn Files>, _) = (Arc::new(FilesInMemory::default()), MemoryQueue::new(LEASE_TIME));
//! let boards = Recipe::try_new(Board::blank_last(Size::try_from((3, 3))?), "seed", 1_000)?;
//! let spec = JobSpec {
//!     boards: JobBoards::Recipe(boards),
//!     want: Want::Length,
//!     limits: RequestedLimits::default(),
//!     tables: Tier::Small,
//!     chunk: 100,
//!     version: "1".to_owned(),
//! };
//! let (id, folder) = (JobId::random()?, FolderName::random()?);
//! let job = StoredJob::create_in(Arc::new(folder.in_store(&store)), &spec)?;
//! for chunk in 0..spec.chunks() {
//!     queue.offer(&Task { class: TaskClass::Bulk, job: id, folder, work: Work::Chunk(chunk) }).await?;
//! }
//! let metrics = Arc::new(WorkerMetrics::new(2));
//! let worker = Worker::new(Arc::new(queue.clone()), store, Arc::<Solver>::default(), 2, metrics);
//! let until_done = async {
//!     while queue.tasks().await.is_ok_and(|tasks| !tasks.is_empty()) {
//!         tokio::time::sleep(Duration::from_millis(10)).await;
//!     }
//! };
//! worker.run(until_done, Duration::from_secs(5)).await;
//! assert!(job.complete()?, "all parts exist");
//! # Ok(())
//! # }
//! ```
//!
//! Each module uses only modules below it:
//!
//! - `worker`: the loop of a worker
//! - `maker`: does one task; the trait [`JobSolver`]
//! - `suspects`: finds boards whose search crashes the process
//! - `pulse`: extends a lease while the work makes progress
//! - `metrics`: metrics of a worker
//! - `jetstream`: a queue on NATS JetStream
//! - `connection`: the connection to NATS servers
//! - `memory_queue`: a queue in memory, for tests
//! - `queue`: the traits [`Queue`] and [`Lease`]
//! - `task`: the tasks of a queue
//! - `objects`: files in a bucket, or in a shared directory
//! - `bucket`: opens a bucket from its URL and the environment

// Tests may unwrap and print. The message of an `expect` gives the reason why the call cannot fail.
#![cfg_attr(not(test), warn(clippy::too_many_lines, clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr))]

mod bucket;
mod connection;
mod jetstream;
mod maker;
mod memory_queue;
mod metrics;
mod objects;
mod pulse;
mod queue;
mod suspects;
mod task;
mod worker;

/// The client library that [`JetStream`] uses.
pub use async_nats;

pub use bucket::BucketError;
pub use jetstream::{JetStream, MessageLease, QueueRole, QueueSettings};
pub use maker::JobSolver;
pub use memory_queue::{MemoryLease, MemoryQueue};
pub use metrics::WorkerMetrics;
pub use objects::{OpenError, find_files, open_files};
pub use queue::{LEASE_TIME, Lease, Queue, QueueCounts, QueueError, WorkerTrouble};
pub use task::{Task, TaskClass, Work};
pub use worker::Worker;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
