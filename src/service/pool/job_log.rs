//! Log lines of jobs.

use taquin_solver::{Named, SearchRequest, Size};
use tracing::Level;

use crate::service::job::{Report, ServiceError};

/// Logs a job that failed because of a bug or of damaged memory.
pub(crate) fn failed(job: &SearchRequest, error: &ServiceError) {
    tracing::event!(
        target: "taquin::job",
        Level::ERROR,
        puzzle.size = job.puzzle.size().name(),
        puzzle.start = %job.puzzle.start(),
        %error,
        "job failed"
    );
}

/// Logs a job that finished, with the fields that docs/LOGGING.md lists.
pub(crate) fn finished(size: Size, report: &Report) {
    tracing::event!(
        target: "taquin::job",
        Level::INFO,
        // tracing records a literal in the field `message` as it is. It would format a message in the last argument.
        message = "job finished",
        puzzle.size = size.name(),
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
