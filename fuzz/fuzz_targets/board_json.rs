//! The body of `POST /solve`: a puzzle, or a problem that tells the client what to mend.
#![no_main]

use libfuzzer_sys::fuzz_target;
use taquin::http::{Problem, ProblemKind, read_solve_body};

fuzz_target!(|data: &[u8]| {
    match read_solve_body(data) {
        Ok(puzzle) => {
            assert_eq!(puzzle.start().size(), puzzle.goal().size());
            // What was read can be asked again in the form of an answer.
            let rows = |board: &taquin::domain::Board| format!("{:?}", board.rows().collect::<Vec<_>>());
            let body = format!(r#"{{"board": {}, "goal": {}}}"#, rows(puzzle.start()), rows(puzzle.goal()));
            let again = read_solve_body(body.as_bytes()).expect("an answer's boards are a question's");
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
    assert!(errors.len() <= Problem::MAX_FAULTS, "{problem:?}");
    // Two kinds are about the whole; every other one names what is wrong in it.
    let is_of_the_whole = matches!(kind, ProblemKind::MalformedJson | ProblemKind::Unsolvable);
    assert_eq!(errors.is_empty(), is_of_the_whole, "{problem:?}");
    for fault in errors {
        assert!(fault.pointer.is_empty() || fault.pointer.starts_with('/'), "{fault:?}");
        assert!(!fault.code.is_empty() && !fault.detail.is_empty(), "{fault:?}");
        // No fault quotes its cause at length, nor any control character of it.
        assert!(fault.detail.len() < 1000 && !fault.detail.contains(char::is_control), "{fault:?}");
    }
}
