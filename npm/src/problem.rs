//! Errors as problem documents (RFC 9457), with the members of the service's problems.

use serde_json::{Value, json};
use taquin_bulk::{ErrorKind, FieldError, ProblemDocument, RowError, counted};
use taquin_solver::{Limits, Report, StopReason, WrongSolution};

use crate::reply;

/// An error of an operation.
#[derive(Debug)]
pub(crate) struct Problem {
    slug: &'static str,
    title: &'static str,
    status: u16,
    detail: String,
    errors: Vec<FieldError>,
    members: Vec<(&'static str, Value)>,
}

impl From<RowError> for Problem {
    fn from(RowError { kind, detail, errors, members }: RowError) -> Self {
        Self { slug: kind.slug(), title: kind.title(), status: kind.status(), detail, errors, members }
    }
}

impl From<WrongSolution> for Problem {
    fn from(wrong: WrongSolution) -> Self {
        Self::internal(&wrong.to_string())
    }
}

impl Problem {
    /// A bug.
    pub(crate) fn internal(cause: &str) -> Self {
        RowError::new(ErrorKind::Internal, format!("Internal error: {cause}. Please report it.")).into()
    }

    /// A limit ended the work. `detail` is a sentence.
    pub(crate) fn limit_exceeded(stop: StopReason, detail: impl Into<String>) -> Self {
        Self {
            slug: "search-limit-exceeded",
            title: "A limit ended the search",
            status: 422,
            detail: detail.into(),
            errors: Vec::new(),
            members: vec![("limit", limit_name(stop).into())],
        }
    }

    /// A limit ended a search without the required solution.
    pub(crate) fn stopped(limits: Limits, report: &Report, stop: StopReason) -> Self {
        let (missing, instead) = match (report.solution.is_some(), stop) {
            (true, _) => (
                "a proof of optimality; the best solution so far is in `solution`",
                "accept it with `require: \"any\"`",
            ),
            (false, StopReason::Nodes) => ("a solution", "use `ida_star`, which stores no nodes"),
            (false, _) => ("a solution", "let `auto` choose the algorithm"),
        };
        let mut problem = Self::without(missing, instead, limits, stop);
        problem.members.extend([
            ("lower_bound", report.lower_bound.into()),
            ("search", reply::search(report)),
            ("limits", reply::limits(limits)),
        ]);
        let solution = report.solution.as_ref().map(|solution| reply::solution(report, solution));
        problem.members.extend(solution.map(|solution| ("solution", Value::Object(solution))));
        problem
    }

    /// A limit ended a search without a result that `missing` names. `instead` is an alternative to a higher limit.
    pub(crate) fn without(missing: &str, instead: &str, limits: Limits, stop: StopReason) -> Self {
        let (spent, raised) = match stop {
            StopReason::Time | StopReason::Cancelled => (format!("{} ms", limits.time.as_millis()), "`limits.time_ms`"),
            StopReason::Expanded => (counted(limits.expanded, "expansion"), "`limits.expanded`"),
            StopReason::Nodes => (counted(limits.nodes, "node"), "`limits.nodes`"),
            StopReason::Depth => ("expanding all nodes within the depth limit".to_owned(), "`depth_limit`"),
        };
        let detail = format!("The search ended after {spent} without {missing}. Raise {raised}, or {instead}.");
        Self::limit_exceeded(stop, detail)
    }

    /// The problem document.
    pub(crate) fn to_json(&self) -> String {
        let Self { slug, title, status, detail, errors, members } = self;
        let document = ProblemDocument { slug, title, status: *status, detail, request: None, errors, members };
        json!(document).to_string()
    }
}

fn limit_name(stop: StopReason) -> &'static str {
    match stop {
        StopReason::Time => "time",
        StopReason::Expanded => "expanded",
        StopReason::Nodes => "nodes",
        StopReason::Depth => "depth",
        StopReason::Cancelled => "cancelled",
    }
}
