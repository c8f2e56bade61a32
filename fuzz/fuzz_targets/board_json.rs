//! The body of `POST /solve`: it is a puzzle, or is rejected with a problem that lists its errors.
#![no_main]

use libfuzzer_sys::fuzz_target;
use taquin::http::{Problem, ProblemKind, read_solve_body};

fuzz_target!(|data: &[u8]| {
    match read_solve_body(data) {
        Ok(puzzle) => {
            assert_eq!(puzzle.start().size(), puzzle.goal().size());
            // The boards can be sent again in the form of a response.
            let rows = |board: &taquin_solver::Board| format!("{:?}", board.rows().collect::<Vec<_>>());
            let body = format!(r#"{{"board": {}, "goal": {}}}"#, rows(puzzle.start()), rows(puzzle.goal()));
            let again = read_solve_body(body.as_bytes()).expect("boards of a response are valid in a request");
            assert_eq!((again.start(), again.goal()), (puzzle.start(), puzzle.goal()));
        }
        Err(problem) => check(&problem),
    }
});

fn check(problem: &Problem) {
    let Problem { kind, detail, errors, .. } = problem;
    let status = kind.status().as_u16();
    assert!(matches!(status, 400 | 422), "{problem:?}");
    assert!(!detail.is_empty(), "{problem:?}");
    assert!(errors.len() <= taquin_bulk::RowError::MAX_ERRORS, "{problem:?}");
    // Problems of two kinds concern the whole body. All others list errors.
    let is_about_the_body = matches!(kind, ProblemKind::MalformedJson | ProblemKind::Unsolvable);
    assert_eq!(errors.is_empty(), is_about_the_body, "{problem:?}");
    for error in errors {
        assert!(error.pointer.is_empty() || error.pointer.starts_with('/'), "{error:?}");
        assert!(!error.code.is_empty() && !error.detail.is_empty(), "{error:?}");
        // Details quote the input only in part, and without control characters.
        assert!(error.detail.len() < 1000 && !error.detail.contains(char::is_control), "{error:?}");
    }
}
