//! The wait for the pattern tables of a job.

use std::sync::Arc;
use std::time::Instant;

use tokio::time::timeout_at;

use crate::domain::{Packed, Packed64};
use crate::search::HeuristicKind;
use crate::search::heuristic::GoalClass;
use crate::service::job::{Job, ServiceError};
use crate::service::metrics::{Metrics, Refusal};
use crate::service::tables::{LoadedPatterns, MIN_STAY, TableShortage, Tables};

/// A job with its pattern tables.
pub(crate) enum PreparedJob {
    Ready {
        job: Job,
        patterns: Option<Arc<LoadedPatterns>>,
        tables_were_late: bool,
    },
    /// The job's time ran out before its tables were loaded.
    TooLate(Job),
}

/// Loads the pattern tables that a job needs. A job whose heuristic is open waits for them for a part of its time
/// only.
///
/// Two kinds of jobs wait for stronger tables that are being built: one that requires an optimal solution on a large
/// board, because they save more time than they cost; and one with a limit on expansions, because its result must
/// not depend on when it is asked for.
pub(crate) async fn prepare(
    tables: &Tables,
    metrics: &Metrics,
    job: Job,
    submitted: Instant,
) -> Result<PreparedJob, ServiceError> {
    /// Divisor of the time limit: the longest wait for tables that a job can do without.
    const SHARE: u32 = 4;
    let Job { puzzle, plan, limits, .. } = &job;
    let (size, goal_blank) = (puzzle.size(), puzzle.goal().blank());
    if plan.heuristic != HeuristicKind::PatternDatabase || !GoalClass::serves(size) {
        return Ok(PreparedJob::Ready { job, patterns: None, tables_were_late: false });
    }
    let (is_large, mut tables_were_late) = (size.cells() > Packed64::MAX_CELLS, false);
    let wait = if plan.is_heuristic_open { limits.time / SHARE } else { limits.time };
    let patterns = tables.ready_patterns(size, goal_blank, !plan.is_heuristic_open);
    let patterns = timeout_at((submitted + wait).into(), patterns).await;
    let patterns = match patterns {
        Ok(Ok(small)) if job.counts_expansions() || is_large && plan.require_optimal => {
            let stronger = tables.stronger_patterns(Arc::clone(&small));
            let stronger = timeout_at((submitted + limits.time / SHARE).into(), stronger).await;
            tables_were_late = stronger.is_err() && job.counts_expansions();
            Ok(Ok(stronger.unwrap_or(small)))
        }
        other => other,
    };
    let is_heuristic_open = plan.is_heuristic_open;
    let without = |job: Job| Job { plan: job.plan.without_tables(), ..job };
    match patterns {
        Ok(Ok(patterns)) => Ok(PreparedJob::Ready { job, patterns: Some(patterns), tables_were_late }),
        Ok(Err(TableShortage::Lasting { bytes })) if !is_heuristic_open => Err(ServiceError::NoRoomForTables { bytes }),
        Ok(Err(TableShortage::Lasting { .. })) => {
            Ok(PreparedJob::Ready { job: without(job), patterns: None, tables_were_late: false })
        }
        _ if is_heuristic_open => Ok(PreparedJob::Ready { job: without(job), patterns: None, tables_were_late: true }),
        _ if !job.plan.falls_back && tables.are_short_of_memory(size, goal_blank) => {
            metrics.refused(Refusal::TableMemoryFull);
            Err(ServiceError::TablesWait { retry_after: MIN_STAY })
        }
        _ => Ok(PreparedJob::TooLate(job)),
    }
}
