//! Problem documents of service errors, limits and unsolvable boards.

use taquin_bulk::{FieldError, counted};
use taquin_solver::StopReason;

use super::lists::ListsReply;
use super::notation::Layout;
use super::search::{LimitsReply, SearchReply};
use super::solution::SolutionReply;
use crate::http::problem::{Problem, ProblemKind};
use crate::service::{AnalysisError, Overload, Report, ServiceError};

/// Returns the problem for a service error.
pub(crate) fn service_failure(error: &ServiceError) -> Problem {
    match error {
        ServiceError::Overloaded { retry_after, cause } => Problem::new(ProblemKind::Overloaded, lack(*cause))
            .with_retry_after(retry_after.as_secs_f64().ceil() as u64),
        ServiceError::NoRoomForTables { bytes } => {
            let detail = format!(
                "The pattern tables for this board and goal need {} MiB, more than this server has left for tables. \
                 Omit the heuristic, or use `linear_conflict`.",
                bytes >> 20
            );
            let error = FieldError::new("/heuristic", "unsupported", detail.clone());
            Problem::new(ProblemKind::UnsupportedCombination, detail).with_errors(vec![error])
        }
        ServiceError::TablesWait { retry_after } => {
            let detail = "The pattern tables for this board and goal have to wait until other tables are no longer used. \
                          Retry after the time in `Retry-After`, or use `linear_conflict`.";
            Problem::new(ProblemKind::Overloaded, detail).with_retry_after(retry_after.as_secs_f64().ceil() as u64)
        }
        ServiceError::ReplyMemoryFull => {
            let detail = "Long responses that clients have not read yet leave no memory for this one. Retry after the time \
                          in `Retry-After`, or without `include`.";
            Problem::new(ProblemKind::Overloaded, detail).with_retry_after(1)
        }
        ServiceError::ShuttingDown => {
            let detail =
                "This instance is shutting down and accepts no more searches. Retry: another instance will respond.";
            Problem::new(ProblemKind::ShuttingDown, detail).with_retry_after(1)
        }
        // The pool or the panic hook has logged the cause.
        ServiceError::WrongSolution(_) | ServiceError::Failed(_) => Problem::internal(),
    }
}

/// Describes the exhausted resource of an overloaded service.
fn lack(cause: Overload) -> &'static str {
    match cause {
        Overload::QueueFull => "All workers are busy and the queue is full. Retry after the time in `Retry-After`.",
        Overload::SearchWaited => {
            "The time limit expired while the search was queued. Retry later, or with a higher `limits.time_ms`."
        }
        Overload::WorkWaited => {
            "The request was queued too long. Retry after the time in `Retry-After`, or with fewer moves."
        }
        Overload::NoThread => {
            "The system gives this server no thread for the request. Retry after the time in `Retry-After`."
        }
    }
}

/// Returns the problem of a search that a limit stopped, with its non-empty lists.
pub(crate) fn limit_exceeded_with_lists(report: &Report, stop: StopReason, layout: Layout) -> Problem {
    let problem = limit_exceeded(report, stop);
    let lists = ListsReply::new(report, layout.encoding).without_empty();
    if lists.is_empty() { problem } else { problem.with_tail(&lists, lists.lines("")) }
}

/// Returns the problem of an analysis without a result. `instead` completes a sentence that begins with "or".
pub(crate) fn analysis_failure(error: &AnalysisError, instead: &'static str) -> Problem {
    match error {
        AnalysisError::Service(error) => service_failure(error),
        AnalysisError::Stopped(report, stop) => {
            limit_exceeded_without(report, *stop, "a proof of the optimal length", instead)
        }
    }
}

/// Returns `search-limit-exceeded`, with the best solution so far, if any.
pub(crate) fn limit_exceeded(report: &Report, stop: StopReason) -> Problem {
    let (missing, elsewhere) = match (report.solution.is_some(), stop) {
        _ if report.lacks_solutions => {
            ("all optimal solutions", "set `solutions.count` to false for the first ones only")
        }
        (true, _) => (
            "a proof of optimality; the best solution so far is in `solution`",
            "accept it with `\"require\": \"any\"`",
        ),
        (false, StopReason::Nodes) => ("a solution", "use `ida_star`, which stores no nodes"),
        (false, _) => ("a solution", "let `auto` choose the algorithm"),
    };
    limit_exceeded_without(report, stop, missing, elsewhere)
}

/// Returns `search-limit-exceeded`. `missing` names the missing result; `elsewhere` is an alternative to a higher
/// limit.
fn limit_exceeded_without(
    report: &Report,
    stop: StopReason,
    missing: &'static str,
    elsewhere: &'static str,
) -> Problem {
    let limits = LimitsReply::new(report.limits);
    let (spent, raised) = match stop {
        StopReason::Time => (time_spent(report), "`limits.time_ms`"),
        StopReason::Expanded => (counted(limits.expanded, "expansion"), "`limits.expanded`"),
        StopReason::Nodes => (counted(limits.nodes, "node"), "`limits.nodes`"),
        StopReason::Depth => ("expanding all nodes within the depth limit".to_owned(), "`depth_limit`"),
        StopReason::Cancelled => return service_failure(&ServiceError::ShuttingDown),
    };
    let most = if stop == StopReason::Depth { "" } else { ", up to the server's maximum" };
    let detail = format!("The search ended after {spent} without {missing}. Raise {raised}{most}, or {elsewhere}.");
    let problem = Problem::new(ProblemKind::SearchLimitExceeded, detail)
        .with_member("limit", limit_name(stop))
        .with_member("lower_bound", report.lower_bound)
        .with_member("search", SearchReply::new(report))
        .with_member("limits", limits);
    match SolutionReply::new(report) {
        Some(solution) => problem.with_member("solution", solution),
        None => problem,
    }
}

/// The limit that stopped a search, as the contract names it.
pub(crate) fn limit_name(stop: StopReason) -> &'static str {
    match stop {
        StopReason::Time => "time",
        StopReason::Expanded => "expanded",
        StopReason::Nodes => "nodes",
        StopReason::Depth => "depth",
        StopReason::Cancelled => "cancelled",
    }
}

/// Describes the time limit, and the time in the queue if it was at least a tenth of the limit.
fn time_spent(report: &Report) -> String {
    let limit = report.limits.time.as_millis();
    if 10 * report.queued < report.limits.time {
        format!("{limit} ms")
    } else {
        format!("{limit} ms, {} ms of them in the queue,", report.queued.as_millis())
    }
}
