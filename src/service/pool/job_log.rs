//! The log line of a job.

use taquin_solver::{Named, SearchRequest};
use tracing::Level;

use crate::service::job::{Report, ServiceError};

/// Logs the end of a job, with the fields that docs/LOGGING.md lists.
pub(crate) fn write(job: &SearchRequest, report: &Result<Report, ServiceError>) {
    let report = match report {
        Ok(report) => report,
        Err(error) => {
            tracing::event!(target: "taquin::job", Level::ERROR, puzzle.size = job.puzzle.size().name(), puzzle.start = %job.puzzle.start(), %error, "job failed");
            return;
        }
    };
    tracing::event!(
        target: "taquin::job",
        Level::INFO,
        // A string literal is recorded as it is; format arguments would be formatted.
        message = "job finished",
        puzzle.size = job.puzzle.size().name(),
        search.algorithm = report.algorithm.name(),
        search.heuristic = report.heuristic.name(),
        search.expanded = report.stats.expanded,
        search.generated = report.stats.generated,
        search.nodes_held = report.stats.nodes_held,
        search.length = report.length(),
        search.lower_bound = report.lower_bound,
        search.elapsed_us = report.elapsed.as_micros() as u64,
        job.queued_us = report.queued.as_micros() as u64,
        job.outcome = report.outcome(),
    );
}
