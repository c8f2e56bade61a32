//! The errors of a request, collected for one problem document.

use crate::http::problem::{Problem, ProblemKind, RequestError, sentence};

/// The problem kinds of requests with errors, the most severe first.
const MOST_SEVERE_FIRST: [ProblemKind; 5] = [
    ProblemKind::InvalidRequest,
    ProblemKind::InvalidParameter,
    ProblemKind::InvalidBoard,
    ProblemKind::GoalMismatch,
    ProblemKind::UnsupportedCombination,
];

/// Counts all errors, and keeps the first [`Problem::MAX_ERRORS`]. A hostile body has tens of thousands.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    listed: Vec<(ProblemKind, RequestError)>,
    count: usize,
    most_severe: Option<ProblemKind>,
}

impl Errors {
    /// Adds an error of this kind. `error` is called only if the error is kept.
    pub(crate) fn add(&mut self, kind: ProblemKind, error: impl FnOnce() -> RequestError) {
        self.count(1, kind);
        if self.listed.len() < Problem::MAX_ERRORS {
            self.listed.push((kind, error()));
        }
    }

    /// Adds the errors of the object at the pointer `at`, which is part of a value of this kind.
    pub(crate) fn add_all_within(&mut self, at: &str, kind: ProblemKind, inner: Self) {
        // An error in JSON inside a query is an error of a parameter.
        let kind_of = |of| if of == ProblemKind::InvalidRequest { kind } else { of };
        if let Some(most_severe) = inner.most_severe {
            self.count(inner.count - inner.listed.len(), kind_of(most_severe));
        }
        for (of, mut error) in inner.listed {
            self.add(kind_of(of), || {
                error.pointer.insert_str(0, at);
                error
            });
        }
    }

    fn count(&mut self, errors: usize, kind: ProblemKind) {
        let severity = |kind| MOST_SEVERE_FIRST.iter().position(|of| *of == kind).unwrap_or(MOST_SEVERE_FIRST.len());
        self.count += errors;
        if self.most_severe.is_none_or(|most| severity(kind) < severity(most)) {
            self.most_severe = Some(kind);
        }
    }

    /// The problem of the most severe kind, with the errors that were kept; `None` if there are no errors.
    pub(crate) fn into_problem(self) -> Option<Problem> {
        let detail = match self.listed.as_slice() {
            [(_, only)] => sentence(&only.detail),
            listed if listed.len() < self.count => {
                format!("The request has {} errors. The first {} are listed.", self.count, listed.len())
            }
            listed => format!("The request has {} errors.", listed.len()),
        };
        let errors = self.listed.into_iter().map(|(_, error)| error).collect();
        Some(Problem::new(self.most_severe?, detail).with_errors(errors))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_beyond_the_maximum_are_counted_and_not_formatted() {
        let mut errors = Errors::default();
        for at in 0..Problem::MAX_ERRORS {
            errors.add(ProblemKind::InvalidBoard, || RequestError::new(format!("/{at}"), "wrong-type", "wrong"));
        }
        errors.add(ProblemKind::InvalidRequest, || panic!("it is formatted"));
        errors.add(ProblemKind::GoalMismatch, || panic!("it is formatted"));
        let problem = errors.into_problem().unwrap();
        assert_eq!(problem.kind, ProblemKind::InvalidRequest);
        assert_eq!(problem.errors.len(), Problem::MAX_ERRORS);
        assert_eq!(problem.detail, "The request has 22 errors. The first 20 are listed.");
    }

    #[test]
    fn errors_of_an_object_are_errors_of_its_place() {
        let mut inner = Errors::default();
        for _ in 0..30 {
            inner.add(ProblemKind::InvalidRequest, || RequestError::new("/weight", "wrong-type", "wrong"));
        }
        let mut errors = Errors::default();
        errors.add_all_within("/methods/3", ProblemKind::InvalidParameter, inner);
        let problem = errors.into_problem().unwrap();
        assert_eq!(
            (problem.kind, problem.errors[0].pointer.as_str()),
            (ProblemKind::InvalidParameter, "/methods/3/weight")
        );
        assert!(problem.detail.contains(" 30 errors"), "{}", problem.detail);
        assert!(Errors::default().into_problem().is_none());
    }
}
