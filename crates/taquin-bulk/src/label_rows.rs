//! The loop that labels rows. The loop takes rows from any source, and passes labels to any sink.

use taquin_solver::{Puzzle, WrongSolution};

use crate::batch_solver::BatchSolver;
use crate::label::{Label, LabelControl, LabelError};
use crate::part::Row;

/// A row after the loop has processed it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LabelledRow<F> {
    /// A board and its label.
    Solved(Puzzle, Label),
    /// A board whose search failed, and the error of the search. The observer in [`LabelControl::failures`], if any,
    /// has received the error.
    Failed(Puzzle, LabelError),
    /// The error that the source yielded instead of a board.
    Faulty(F),
}

/// The reason why the loop ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowsEnd {
    /// The source is exhausted.
    Exhausted,
    /// A cancel flag is set. If the flag stopped a search, the sink did not receive the row of that search.
    Cancelled,
}

/// Labels the rows of a source. Passes each row with its key to `sink`, in the order of the source.
///
/// Between boards, the loop checks the cancel flags, and pauses while more important work waits. The loop reports a
/// failed search to [`LabelControl::failures`] before `sink` receives the row.
///
/// # Errors
/// The first error of `sink`. After an error, the loop takes no further row from the source.
///
/// # Panics
/// If the source has a board of a size for which [`Want::serves`](crate::Want::serves) returns false.
pub fn label_rows<K, F, E>(
    rows: impl IntoIterator<Item = (K, Result<Puzzle, F>)>,
    solver: &mut BatchSolver<'_>,
    control: LabelControl<'_>,
    mut sink: impl FnMut(K, LabelledRow<F>) -> Result<(), E>,
) -> Result<RowsEnd, E> {
    let mut rows = rows.into_iter();
    loop {
        control.helpers.inspect(|helpers| helpers.pause());
        if control.is_cancelled() {
            return Ok(RowsEnd::Cancelled);
        }
        let Some((key, row)) = rows.next() else { return Ok(RowsEnd::Exhausted) };
        let labelled = match row {
            Err(fault) => LabelledRow::Faulty(fault),
            Ok(puzzle) => match solver.label(&puzzle, control) {
                Ok(label) => LabelledRow::Solved(puzzle, label),
                Err(LabelError::Cancelled) => return Ok(RowsEnd::Cancelled),
                Err(error) => {
                    control.failures.inspect(|failures| failures.failed(&puzzle, error));
                    LabelledRow::Failed(puzzle, error)
                }
            },
        };
        sink(key, labelled)?;
    }
}

impl<F> LabelledRow<F> {
    /// The puzzle; `None` for a faulty row.
    pub fn puzzle(&self) -> Option<&Puzzle> {
        match self {
            Self::Solved(puzzle, _) | Self::Failed(puzzle, _) => Some(puzzle),
            Self::Faulty(_) => None,
        }
    }

    /// Converts the processed row to a row of a part.
    ///
    /// # Errors
    /// [`WrongSolution`] if the search returned a wrong solution. Other solutions may be wrong too, so the part must
    /// not be stored.
    pub fn into_row(self) -> Result<Row, WrongSolution> {
        match self {
            Self::Solved(_, label) => Ok(Row::Solved(label)),
            Self::Failed(_, LabelError::WrongSolution(wrong)) => Err(wrong),
            Self::Failed(..) => Ok(Row::Failed),
            Self::Faulty(_) => Ok(Row::Invalid),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::panic::panic_any;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use parking_lot::Mutex;
    use taquin_solver::heuristic::GoalClass;
    use taquin_solver::search::{Help, Helpers, MainWork};
    use taquin_solver::tables::{PatternTables, SmallTables};
    use taquin_solver::{Board, LazyTables, Size, SplitMix, TableSource, random_board};

    use super::*;
    use crate::label::{FailureObserver, LabelLimits, RequestedLimits, Want};

    fn puzzles(sides: (usize, usize), count: usize) -> Vec<Puzzle> {
        let goal = Board::blank_last(Size::try_from(sides).unwrap());
        let mut random = SplitMix(7);
        (0..count).map(|_| Puzzle::try_new(random_board(&goal, &mut random), goal).unwrap()).collect()
    }

    fn solver(tables: &dyn TableSource) -> BatchSolver<'_> {
        BatchSolver::new(tables, Want::Length, LabelLimits::of(RequestedLimits::default(), 64 << 20))
    }

    /// Counts pauses, and sets a flag at the pause with the number `cancel_at`.
    #[derive(Debug, Default)]
    struct Pauses {
        count: AtomicUsize,
        cancel_at: Option<usize>,
        flag: AtomicBool,
    }

    impl Helpers for Pauses {
        fn work(&self, main: MainWork<'_>, _: &Help<'_>) {
            main(&|| ());
        }

        fn pause(&self) {
            if Some(self.count.fetch_add(1, Ordering::Relaxed)) == self.cancel_at {
                self.flag.store(true, Ordering::Relaxed);
            }
        }
    }

    #[derive(Debug, Default)]
    struct Failures(Mutex<Vec<(Puzzle, LabelError)>>);

    impl FailureObserver for Failures {
        fn failed(&self, puzzle: &Puzzle, error: LabelError) {
            self.0.lock().push((*puzzle, error));
        }
    }

    /// Tables that panic when patterns are loaded from them.
    #[derive(Debug)]
    struct Panicking(SmallTables);

    impl TableSource for Panicking {
        fn small(&self) -> &SmallTables {
            &self.0
        }

        fn patterns(&self, _: GoalClass) -> Arc<PatternTables> {
            panic_any("no patterns")
        }

        fn loaded_patterns(&self, _: GoalClass) -> Option<Arc<PatternTables>> {
            None
        }
    }

    #[test]
    fn every_row_of_the_source_comes_out_once_and_in_order() {
        let (tables, boards) = (LazyTables::default(), puzzles((3, 3), 20));
        let rows = (0..).zip(&boards).map(|(at, board)| (at, if at % 3 == 1 { Err(at) } else { Ok(*board) }));
        let mut out = Vec::new();
        let end = label_rows(rows, &mut solver(&tables), LabelControl::default(), |key, row| {
            out.push((key, row));
            Ok::<_, Infallible>(())
        });
        assert_eq!((end, out.len()), (Ok(RowsEnd::Exhausted), 20));
        for (at, (key, row)) in out.into_iter().enumerate() {
            assert_eq!(key, at);
            match row {
                LabelledRow::Faulty(fault) => assert_eq!(fault, at),
                LabelledRow::Solved(puzzle, label) => assert!(puzzle == boards[at] && label.is_optimal()),
                LabelledRow::Failed(..) => panic!("row {at}"),
            }
        }
    }

    #[test]
    fn a_failed_board_is_reported_and_the_rows_behind_it_follow() {
        let tables = Panicking(SmallTables::new());
        let mut rows: Vec<Puzzle> = puzzles((4, 4), 2);
        rows.insert(1, puzzles((3, 3), 1)[0]);
        let (failures, mut out) = (Failures::default(), Vec::new());
        let control = LabelControl { failures: Some(&failures), ..LabelControl::default() };
        let end =
            label_rows(rows.iter().map(|row| ((), Ok::<_, ()>(*row))), &mut solver(&tables), control, |(), row| {
                out.push(row.into_row().unwrap());
                Ok::<_, Infallible>(())
            });
        assert_eq!(end, Ok(RowsEnd::Exhausted));
        assert!(matches!(out[..], [Row::Failed, Row::Solved(_), Row::Failed]), "{out:?}");
        assert_eq!(*failures.0.lock(), [(rows[0], LabelError::Panicked), (rows[2], LabelError::Panicked)]);
    }

    #[test]
    fn no_row_is_taken_after_a_cancel_or_an_error_of_the_sink() {
        let (tables, boards) = (LazyTables::default(), puzzles((3, 3), 9));
        for cancel_at in 0..9 {
            let pauses = Pauses { cancel_at: Some(cancel_at), ..Pauses::default() };
            let flags = [&pauses.flag];
            let control = LabelControl { cancel: &flags, helpers: Some(&pauses), failures: None };
            let (mut source, mut labelled) = (boards.iter(), 0);
            let rows = source.by_ref().map(|board| ((), Ok::<_, ()>(*board)));
            let end = label_rows(rows, &mut solver(&tables), control, |(), _| {
                labelled += 1;
                Ok::<_, Infallible>(())
            });
            assert_eq!((end, labelled, source.len()), (Ok(RowsEnd::Cancelled), cancel_at, 9 - cancel_at));
        }
        let mut source = boards.iter();
        let rows = (0..).zip(source.by_ref()).map(|(at, board)| (at, Ok::<_, ()>(*board)));
        let sink = |at, _| if at == 4 { Err(at) } else { Ok(()) };
        assert_eq!(label_rows(rows, &mut solver(&tables), LabelControl::default(), sink), Err(4));
        assert_eq!(source.len(), 4);
    }

    #[test]
    fn a_wrong_solution_is_no_row_of_a_part() {
        let puzzle = puzzles((3, 3), 1)[0];
        let row = |error| LabelledRow::<()>::Failed(puzzle, error).into_row();
        assert_eq!(row(LabelError::NoSolution), Ok(Row::Failed));
        assert_eq!(row(LabelError::WrongSolution(WrongSolution)), Err(WrongSolution));
        assert_eq!(LabelledRow::Faulty(()).into_row(), Ok(Row::Invalid));
    }
}
