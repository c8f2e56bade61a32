//! The errors of a request, collected for one problem document.

use crate::row_error::{ErrorKind, FieldError, RowError, sentence};

/// The problem kinds of requests with errors, the most severe first.
const MOST_SEVERE_FIRST: [ErrorKind; 5] = [
    ErrorKind::InvalidRequest,
    ErrorKind::InvalidParameter,
    ErrorKind::InvalidBoard,
    ErrorKind::GoalMismatch,
    ErrorKind::UnsupportedCombination,
];

/// The errors of a request. All errors are counted, but only the first [`RowError::MAX_ERRORS`] are kept, because a
/// hostile body may have tens of thousands of errors.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    listed: Vec<(ErrorKind, FieldError)>,
    count: usize,
    most_severe: Option<ErrorKind>,
}

impl Errors {
    /// Adds an error of this kind. `error` is called only if the error is kept.
    pub(crate) fn add(&mut self, kind: ErrorKind, error: impl FnOnce() -> FieldError) {
        self.count(1, kind);
        if self.listed.len() < RowError::MAX_ERRORS {
            self.listed.push((kind, error()));
        }
    }

    /// Adds the errors of an object within the value of a field. `at` is the pointer of the object, which becomes the
    /// start of each error's pointer. `kind` is the problem kind of an error in the value, and replaces
    /// [`ErrorKind::InvalidRequest`].
    pub(crate) fn add_all_within(&mut self, at: &str, kind: ErrorKind, inner: Self) {
        // The object may be JSON in a query. Then an error in the object is an error of a parameter.
        let kind_of = |of| if of == ErrorKind::InvalidRequest { kind } else { of };
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

    /// Removes the start `prefix` of each error's pointer.
    pub(crate) fn without_prefix(mut self, prefix: &str) -> Self {
        for (_, FieldError { pointer, .. }) in &mut self.listed {
            if pointer.starts_with(prefix) {
                pointer.drain(..prefix.len());
            }
        }
        self
    }

    fn count(&mut self, errors: usize, kind: ErrorKind) {
        let severity = |kind| MOST_SEVERE_FIRST.iter().position(|of| *of == kind).unwrap_or(MOST_SEVERE_FIRST.len());
        self.count += errors;
        if self.most_severe.is_none_or(|most| severity(kind) < severity(most)) {
            self.most_severe = Some(kind);
        }
    }

    /// Returns one problem of the most severe kind, with the kept errors; `None` if there are no errors.
    pub(crate) fn into_problem(self) -> Option<RowError> {
        let most_severe = self.most_severe?;
        let detail = match self.listed.as_slice() {
            [(_, only)] => sentence(&only.detail),
            listed if listed.len() < self.count => {
                format!("The request has {} errors. The first {} are listed.", self.count, listed.len())
            }
            listed => format!("The request has {} errors.", listed.len()),
        };
        let errors = self.listed.into_iter().map(|(_, error)| error).collect();
        Some(RowError::new(most_severe, detail).with_errors(errors))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_beyond_the_maximum_are_counted_and_not_formatted() {
        let mut errors = Errors::default();
        for at in 0..RowError::MAX_ERRORS {
            errors.add(ErrorKind::InvalidBoard, || FieldError::new(format!("/{at}"), "wrong-type", "wrong"));
        }
        errors.add(ErrorKind::InvalidRequest, || panic!("it is formatted"));
        errors.add(ErrorKind::GoalMismatch, || panic!("it is formatted"));
        let problem = errors.into_problem().unwrap();
        assert_eq!(problem.kind, ErrorKind::InvalidRequest);
        assert_eq!(problem.errors.len(), RowError::MAX_ERRORS);
        assert_eq!(problem.detail, "The request has 22 errors. The first 20 are listed.");
    }

    #[test]
    fn errors_of_an_object_are_errors_of_its_place() {
        let mut inner = Errors::default();
        for _ in 0..30 {
            inner.add(ErrorKind::InvalidRequest, || FieldError::new("/weight", "wrong-type", "wrong"));
        }
        let mut errors = Errors::default();
        errors.add_all_within("/methods/3", ErrorKind::InvalidParameter, inner);
        let problem = errors.into_problem().unwrap();
        assert_eq!(
            (problem.kind, problem.errors[0].pointer.as_str()),
            (ErrorKind::InvalidParameter, "/methods/3/weight")
        );
        assert!(problem.detail.contains(" 30 errors"), "{}", problem.detail);
        assert!(Errors::default().into_problem().is_none());
    }
}
