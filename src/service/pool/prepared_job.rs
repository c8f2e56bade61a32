//! Loads the pattern tables that a job needs.

use std::sync::Arc;
use std::time::Instant;

use taquin_solver::heuristic::GoalClass;
use taquin_solver::tables::PatternTables;
use taquin_solver::{Packed, Packed64, SearchRequest};
use tokio::time::timeout_at;

use super::threads::RETRY_WITHOUT_THREAD;
use crate::service::job::{Overload, ServiceError};
use crate::service::metrics::{Metrics, Refusal};
use crate::service::tables::{MIN_STAY, PatternCache, TableShortage};

/// A job with its loaded pattern tables.
pub(crate) struct PreparedJob {
    pub(crate) job: SearchRequest,
    /// `None` if the job needs no tables, runs without tables, or has no time left.
    pub(crate) patterns: Option<Arc<PatternTables>>,
    pub(crate) tables: TablesAtHand,
}

/// Tells whether an equal job could have another result at another time, when other tables are loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TablesAtHand {
    /// No: the job uses no tables, the tables are strong enough, or the memory limit never admits the tables.
    Usual,
    /// Yes: the tables are missing, or stronger tables were not loaded in time.
    Weaker,
    /// The time of the job ran out before the tables were loaded.
    TooLate,
}

/// Loads the pattern tables of a job. If a job leaves the choice of the heuristic to the service, the job runs without
/// tables when memory is short or the system refuses to create a thread. On a large board, such a job waits for tables
/// under construction for at most a quarter of its time.
///
/// Two kinds of jobs also wait for stronger tables under construction, for at most a quarter of their time. The first
/// kind requires an optimal solution on a large board, because the tables save more time than the wait costs. The
/// second kind has a limit on expansions, because the result must not depend on the time of the request.
///
/// Returns an error if the job needs tables, but the memory or a thread for the tables is lacking.
pub(crate) async fn prepare(
    cache: &Arc<PatternCache>,
    metrics: &Metrics,
    job: SearchRequest,
    submitted: Instant,
) -> Result<PreparedJob, ServiceError> {
    /// Divisor of the time limit. The quotient is the longest wait for optional tables.
    const SHARE: u32 = 4;
    let SearchRequest { puzzle, plan, limits, .. } = &job;
    let (size, goal_blank) = (puzzle.size(), puzzle.goal().blank());
    if !plan.uses_patterns() || plan.patterns.is_some() || !GoalClass::serves(size) {
        return Ok(PreparedJob { job, patterns: None, tables: TablesAtHand::Usual });
    }
    let (is_large, is_open) = (size.cells() > Packed64::MAX_CELLS, plan.is_heuristic_open);
    let wait = if is_large && is_open { limits.time / SHARE } else { limits.time };
    let patterns = timeout_at((submitted + wait).into(), cache.get_async(size, goal_blank, !is_open)).await;
    let without = |job: SearchRequest, tables| {
        let job = SearchRequest { plan: job.plan.without_tables(), ..job };
        Ok(PreparedJob { job, patterns: None, tables })
    };
    match patterns {
        Ok(Ok(small)) if job.counts_expansions() || is_large && plan.require_optimal => {
            let stronger = cache.stronger(Arc::clone(&small));
            let stronger = timeout_at((submitted + limits.time / SHARE).into(), stronger).await;
            let is_late = stronger.is_err() && job.counts_expansions();
            let tables = if is_late { TablesAtHand::Weaker } else { TablesAtHand::Usual };
            Ok(PreparedJob { job, patterns: Some(stronger.unwrap_or(small)), tables })
        }
        Ok(Ok(small)) => Ok(PreparedJob { job, patterns: Some(small), tables: TablesAtHand::Usual }),
        Ok(Err(TableShortage::Lasting { .. })) if is_open => without(job, TablesAtHand::Usual),
        Ok(Err(TableShortage::Lasting { bytes })) => Err(ServiceError::NoRoomForTables { bytes }),
        Ok(Err(_)) if is_open => without(job, TablesAtHand::Weaker),
        Ok(Err(TableShortage::Thread)) => {
            metrics.refused(Refusal::NoThread);
            Err(ServiceError::Overloaded { retry_after: RETRY_WITHOUT_THREAD, cause: Overload::NoThread })
        }
        Err(_) if is_open && is_large => without(job, TablesAtHand::Weaker),
        Ok(Err(TableShortage::Passing)) | Err(_) if cache.is_short_of_memory(size, goal_blank) => {
            metrics.refused(Refusal::TableMemoryFull);
            Err(ServiceError::TablesWait { retry_after: MIN_STAY })
        }
        Ok(Err(TableShortage::Passing)) | Err(_) => {
            Ok(PreparedJob { job, patterns: None, tables: TablesAtHand::TooLate })
        }
    }
}
