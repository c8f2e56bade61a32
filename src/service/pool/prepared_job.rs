//! Loads the pattern tables of a job.

use std::sync::Arc;
use std::time::Instant;

use taquin_solver::heuristic::GoalClass;
use taquin_solver::tables::PatternTables;
use taquin_solver::{HeuristicKind, Packed, Packed64, SearchRequest};
use tokio::time::timeout_at;

use super::threads::RETRY_WITHOUT_THREAD;
use crate::service::job::{Overload, ServiceError};
use crate::service::metrics::{Metrics, Refusal};
use crate::service::tables::{MIN_STAY, PatternCache, TableShortage};

/// A job with its pattern tables.
pub(crate) struct PreparedJob {
    pub(crate) job: SearchRequest,
    /// `None` if the job needs no tables, runs without them, or has no time left.
    pub(crate) patterns: Option<Arc<PatternTables>>,
    pub(crate) tables: TablesAtHand,
}

/// The effect of the tables at hand on the result of a job, compared with an equal job at another time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TablesAtHand {
    /// The result is the same, because the tables are strong enough, or the job uses none.
    Usual,
    /// The result may differ, because the tables are weaker than at another time, or missing.
    Weaker,
    /// The job's time ran out before the tables were loaded.
    TooLate,
}

/// Loads the pattern tables of a job. A job with a free choice of heuristic runs without tables if memory is short or
/// the system refuses a thread. On a large board, such a job waits for tables under construction only for a quarter of
/// its time.
///
/// Two kinds of jobs wait for stronger tables under construction, for a quarter of their time at most. The first is a
/// job that requires an optimal solution on a large board, because the tables save more time than their build costs.
/// The second is a job with a limit on expansions, because its result must not depend on the time of the request.
pub(crate) async fn prepare(
    cache: &Arc<PatternCache>,
    metrics: &Metrics,
    job: SearchRequest,
    submitted: Instant,
) -> Result<PreparedJob, ServiceError> {
    /// The longest wait for optional tables is the time limit divided by this number.
    const SHARE: u32 = 4;
    let SearchRequest { puzzle, plan, limits, .. } = &job;
    let (size, goal_blank) = (puzzle.size(), puzzle.goal().blank());
    if plan.heuristic != HeuristicKind::PatternDatabase || !GoalClass::serves(size) {
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
