//! Second floor: jobs, the worker pool and the tables. Knows tokio and tracing, but no HTTP.
//!
//! A [`Job`] is a puzzle, the [`Plan`] of its search and its [`Limits`]; a [`Report`] is the result.
//! [`Service::submit`] runs a job.
//!
//! The modules, each of which uses only those below it:
//!
//! - `gauges`: queue, workers, caches, memory and tables as metrics
//! - `service`: the entry point of the floor; settings, limits, start and shutdown
//! - `analysis`: legal moves and walks with their distances, by search where `auto` proves solutions optimal
//! - `hint`: the next move, and the cache of boards ahead on solutions of earlier hints
//! - `random`: boards drawn from seeds
//! - `explain`: estimates of a board by every heuristic, part by part
//! - `sweep`: many boards of one goal, one after another
//! - `distance`: bounds on the distance to the goal without a search; checks of attempts
//! - `reply_memory`: memory limit of long responses
//! - `pool`: admission, result cache, scheduling and progress of searches; the lane for bulk work
//! - `spans`: OpenTelemetry spans of searches
//! - `solver`: one job on the caller's thread, and the dispatch from enums to compiled searches
//! - `tables`: pattern tables and other precomputed tables: caches, files and the background builder
//! - `thread_priority`: a lower priority in the operating system for work in the background
//! - `metrics`: counters and histograms of jobs
//! - `job`: the puzzle, the plan and the limits of a search, and its report

mod analysis;
mod distance;
mod explain;
mod gauges;
mod hint;
mod job;
mod metrics;
mod pool;
mod random;
mod reply_memory;
#[expect(clippy::module_inception, reason = "it holds the struct of this name")]
mod service;
mod solver;
mod spans;
mod sweep;
mod tables;
mod thread_priority;

pub use crate::search::heuristic::Tier;
pub use analysis::{AnalysisError, AnalysisParts, LegalMove, LegalMoves};
pub use distance::{AttemptCheck, Distance, check_attempt};
pub use explain::{Conflict, Estimate, Explanation, NamedPart};
pub use hint::Hint;
pub use job::{
    Answer, BeforeSearchHook, Job, Limits, Origin, Overload, Plan, PlanConflict, Records, Report, RequestedLimits,
    RequestedSolutions, SearchOptions, ServiceError, Solution,
};
pub use metrics::{BoardCounts, Metrics, Refusal};
pub use pool::{
    BulkError, BulkHandle, BulkLoad, BulkSettings, BulkWork, CacheUsage, FoundSolution, Load, Pool, PoolSettings,
    SearchEvent, SearchMemory, Slice, SliceContext, SliceEnd, Subscription,
};
pub use random::{Draw, DrawError, DrawnBoard, Solvability, Walk, board_of_seed, fresh_seed};
pub use reply_memory::{HeldReport, ReplyOwner, Reservation};
pub use service::{Service, ServiceSettings};
pub use solver::{SearchContext, solve};
pub use sweep::{Label, MixedSweep, Sweep, SweepContext, SweepError, SweepLimits, SweepTables, Want};
pub use tables::{TableEntry, Tables};
