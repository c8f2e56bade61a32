//! Settings of the service.

use std::path::PathBuf;
use std::time::Duration;

use taquin_solver::heuristic::Tier;

use crate::service::job::BeforeSearchHook;

/// Settings of the service. The settings are fixed at the start.
#[derive(Clone, Debug)]
pub struct ServiceSettings {
    /// Maximum number of jobs that run at the same time.
    pub workers: usize,
    /// Maximum number of jobs that wait, in addition to one running job for each worker.
    pub queue: usize,
    /// Maximum number of threads that run searches or hold paused searches.
    pub job_threads: usize,
    /// Default time limit of a search.
    pub default_time: Duration,
    /// Maximum time limit of a search.
    pub max_time: Duration,
    /// Maximum number of nodes that a search expands.
    pub max_expanded: u64,
    /// Memory budget of the process, in bytes.
    pub memory: u64,
    /// Maximum memory for the nodes of one search, in bytes.
    pub search_memory: u64,
    /// Memory of all searches.
    pub searches_memory: SearchMemory,
    /// Limits of bulk work.
    pub bulk: BulkSettings,
    /// Maximum memory of the result cache and the hint cache together, in bytes.
    pub answer_memory: u64,
    /// Maximum memory of batches and of long responses in transfer, in bytes.
    pub reply_memory: u64,
    /// Maximum number of expansions that a search records.
    pub max_expansions: usize,
    /// Strongest pattern tables to build.
    pub tables: Tier,
    /// Strongest pattern tables that must be built before the service is ready. This tier is at most `tables`.
    pub ready: Tier,
    /// Maximum memory of the tables that are built on first use, in bytes.
    pub table_memory: u64,
    /// Directory of the table files that are kept between runs; `None` if there are no such files.
    pub table_cache: Option<PathBuf>,
    /// Function that tests run before each search.
    pub before_search: Option<BeforeSearchHook>,
}

impl ServiceSettings {
    /// Memory of the hint cache, in bytes: an eighth of the memory of both caches.
    pub(crate) fn hint_memory(&self) -> u64 {
        self.answer_memory / 8
    }

    /// Memory of the result cache, in bytes.
    pub(crate) fn result_memory(&self) -> u64 {
        self.answer_memory - self.hint_memory()
    }
}

#[cfg(test)]
impl ServiceSettings {
    /// Settings of a service with two workers and small tables.
    pub(crate) fn for_tests() -> Self {
        Self {
            workers: 2,
            queue: 1,
            job_threads: 8,
            default_time: Duration::from_secs(60),
            max_time: Duration::from_secs(60),
            max_expanded: 1_000_000_000,
            memory: 1 << 30,
            search_memory: 64 << 20,
            searches_memory: SearchMemory { shared: 128 << 20, small: 64 << 20, light: 64 << 20 },
            bulk: BulkSettings { workers: 2, search_memory: 16 << 20 },
            answer_memory: 1 << 20,
            reply_memory: 1 << 20,
            max_expansions: 10,
            tables: Tier::Small,
            ready: Tier::Small,
            table_memory: 1 << 30,
            table_cache: None,
            before_search: None,
        }
    }
}

/// Limits of bulk work.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BulkSettings {
    /// Maximum number of workers that run bulk work at the same time; 0 turns bulk work off.
    pub workers: usize,
    /// Memory of each bulk search, in bytes. The memory of jobs does not include this memory.
    pub search_memory: u64,
}

/// Memory of all searches, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SearchMemory {
    /// Memory that all jobs share.
    pub shared: u64,
    /// Maximum memory of a small job. The same amount is reserved for small and light jobs.
    pub small: u64,
    /// Memory reserved for light jobs, which store neither nodes nor lists of nodes.
    pub light: u64,
}

impl SearchMemory {
    /// Returns the sum of all parts.
    pub fn total(&self) -> u64 {
        self.shared.saturating_add(self.small).saturating_add(self.light)
    }
}
