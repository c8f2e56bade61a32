//! Searches on a worker pool, and the tables of the searches. This layer uses tokio and tracing, but no HTTP.
//!
//! [`Service::submit`] runs a [`SearchRequest`](taquin_solver::SearchRequest) and returns the [`Report`] of the search.
//!
//! Each module uses only the modules below it:
//!
//! - `gauges`: metrics of the queue, workers, caches, memory and tables
//! - `service`: the entry point; limits, start and shutdown
//! - `analysis`: legal moves, and walks, with the distances of their boards; searches prove the distances if `auto`
//!   proves solutions optimal
//! - `hint`: the next move, and a cache of the next boards on the solutions of earlier hints
//! - `bulk_tables`: tables for bulk work, within the memory for tables
//! - `reply_memory`: memory limit of long responses
//! - `pool`: admission, result cache, scheduling and progress of searches, and the lane for bulk work
//! - `spans`: OpenTelemetry spans of searches
//! - `tables`: pattern tables and other precomputed tables, with caches, files and the background builder
//! - `instant`: estimates whether work takes less time than a hand-over to another thread
//! - `metrics`: counters and histograms of jobs
//! - `settings`: settings of the service
//! - `job`: the report of a search, and the reasons why a job has no report

mod analysis;
mod bulk_tables;
mod gauges;
mod hint;
mod instant;
mod job;
mod metrics;
mod pool;
mod reply_memory;
#[expect(clippy::module_inception, reason = "it holds the struct of this name")]
mod service;
mod settings;
mod spans;
mod tables;

pub use analysis::{AnalysisError, AnalysisParts, LegalMove, LegalMoves};
pub(crate) use gauges::{write_gauge, write_gauges};
pub use hint::Hint;
pub use job::{Answer, BeforeSearchHook, Origin, Overload, Report, ServiceError};
pub use metrics::{BoardCounts, Metrics, Refusal};
pub use pool::{
    BulkError, BulkHandle, BulkLoad, BulkWork, CacheUsage, FoundSolution, Load, Pool, SearchEvent, Slice, SliceContext,
    SliceEnd, Subscription,
};
pub use reply_memory::{ReplyOwner, Reservation};
pub use service::Service;
pub use settings::{BulkSettings, SearchMemory, ServiceSettings};
pub use tables::{TableEntry, Tables};
