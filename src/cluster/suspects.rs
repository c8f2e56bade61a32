//! Finds boards whose search ends the process, so that the other boards of their chunk get a label.
//!
//! A worker that labels a chunk with care creates a file before each run of rows. If the process disappears, the last
//! of these files says where, and the next attempt splits that run. A single row at which three attempts in a row have
//! ended is not searched any more.

use std::collections::{BTreeMap, BTreeSet};

use crate::jobs::{JobError, StoredJob};

/// Rows of a chunk, counted from its first one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Run {
    pub(super) first: u64,
    pub(super) rows: u64,
}

/// One attempt to label a chunk with care.
#[derive(Debug)]
pub(super) struct Attempt<'j> {
    job: &'j StoredJob,
    chunk: u64,
    number: u64,
    /// The run in which the last attempt ended.
    suspicion: Option<Run>,
    /// Rows that are not searched.
    failed: BTreeSet<u64>,
}

/// Folder with a file for each run that was begun: `CHUNK-ATTEMPT-FIRST-ROWS`.
const TRYING: &str = "trying";
/// Folder with a file for each board that is not searched any more.
const FAILED: &str = "failed";
/// First row of the file that says that an attempt was given up in good order.
const GIVEN_UP: u64 = 9_999_999_999;
/// Number of runs that a suspicious one is split into.
const RUNS: u64 = 16;
/// Attempts that have to end at a row until it is not searched any more.
const PROOF: usize = 3;

impl<'j> Attempt<'j> {
    /// Begins another attempt: notes where the ones before have ended.
    ///
    /// # Errors
    /// [`JobError`] if the store fails.
    pub(super) fn begin(job: &'j StoredJob, chunk: u64) -> Result<Self, JobError> {
        let mut attempts: BTreeMap<u64, Run> = BTreeMap::new();
        for [of, attempt, first, rows] in runs_of(job, chunk)? {
            let last = attempts.entry(attempt).or_insert(Run { first, rows });
            if of == chunk && first >= last.first {
                *last = Run { first, rows };
            }
        }
        let number = attempts.last_key_value().map_or(1, |(last, _)| last + 1);
        let ends: Vec<Run> = attempts.into_values().rev().filter(|end| end.first != GIVEN_UP).collect();
        let mut attempt = Self { job, chunk, number, suspicion: ends.first().copied(), failed: BTreeSet::new() };
        attempt.failed = attempt.failed_rows()?;
        if let Some(row) = attempt.proven(&ends) {
            attempt.note_failed(row)?;
        }
        attempt.suspicion = attempt.suspicion.filter(|run| run.rows > 1 || !attempt.failed.contains(&run.first));
        Ok(attempt)
    }

    /// The row at which the last attempts have ended, if that is proof.
    fn proven(&self, ends: &[Run]) -> Option<u64> {
        let last = *ends.first().filter(|run| run.rows == 1)?;
        let is_proven = ends.len() >= PROOF && ends[..PROOF].iter().all(|end| *end == last);
        (is_proven && !self.failed.contains(&last.first)).then_some(last.first)
    }

    fn failed_rows(&self) -> Result<BTreeSet<u64>, JobError> {
        let boards = self.job.spec().boards_of(self.chunk);
        let mut failed = BTreeSet::new();
        let mut note = |name: &str| {
            let index = name.strip_suffix(".json").and_then(|index| index.parse::<u64>().ok());
            failed.extend(index.filter(|index| boards.contains(index)).map(|index| index - boards.start));
        };
        self.job.files().list(FAILED, &mut note).map_err(|error| self.job.file_error(FAILED, error))?;
        Ok(failed)
    }

    fn note_failed(&mut self, row: u64) -> Result<(), JobError> {
        let index = self.job.spec().boards_of(self.chunk).start + row;
        let text = format!("{{\"index\":{index},\"reason\":\"its search ended the process {PROOF} times\"}}\n");
        self.create(FAILED, &format!("{index}.json"), text.as_bytes())?;
        tracing::error!(target: "taquin::worker", board = index, "board crashes the process, and is not searched any more");
        self.failed.insert(row);
        Ok(())
    }

    fn create(&self, folder: &str, name: &str, bytes: &[u8]) -> Result<(), JobError> {
        let (files, name) = (self.job.files(), format!("{folder}/{name}"));
        let created = files.create_folder(folder).and_then(|()| files.put(&name, bytes));
        created.map(drop).map_err(|error| self.job.file_error(&name, error))
    }

    /// The runs of this attempt, in their order: those of the suspicious rows are short.
    pub(super) fn runs(&self) -> Vec<Run> {
        let boards = self.job.spec().boards_of(self.chunk);
        let all = Run { first: 0, rows: boards.end - boards.start };
        let suspicious = self.suspicion.unwrap_or(all);
        let (from, to) = (suspicious.first, suspicious.first + suspicious.rows);
        let step = suspicious.rows.div_ceil(RUNS);
        let short = (0..suspicious.rows.div_ceil(step)).map(|nth| {
            let first = from + nth * step;
            Run { first, rows: step.min(to - first) }
        });
        let before = Run { first: 0, rows: from };
        let after = Run { first: to, rows: all.rows - to };
        let runs = std::iter::once(before).chain(short).chain([after]);
        runs.filter(|run| run.rows > 0).collect()
    }

    /// Notes that a run begins.
    ///
    /// # Errors
    /// [`JobError`] if the store fails.
    pub(super) fn mark(&self, run: Run) -> Result<(), JobError> {
        let Self { chunk, number, .. } = self;
        let Run { first, rows } = run;
        self.create(TRYING, &format!("{chunk:010}-{number:010}-{first:010}-{rows:010}"), b"")
    }

    /// Notes that the attempt ends without having ended the process.
    ///
    /// # Errors
    /// [`JobError`] if the store fails.
    pub(super) fn give_up(&self) -> Result<(), JobError> {
        self.mark(Run { first: GIVEN_UP, rows: 0 })
    }

    /// True if a row is searched.
    pub(super) fn is_searched(&self, row: u64) -> bool {
        !self.failed.contains(&row)
    }
}

/// The runs that were begun of a chunk: chunk, attempt, first row, rows.
fn runs_of(job: &StoredJob, chunk: u64) -> Result<Vec<[u64; 4]>, JobError> {
    let mut runs = Vec::new();
    let mut note = |name: &str| {
        let numbers: Option<Vec<u64>> = name.split('-').map(|number| number.parse().ok()).collect();
        runs.extend(numbers.and_then(|numbers| <[u64; 4]>::try_from(numbers).ok()).filter(|run| run[0] == chunk));
    };
    let listed = job.files().list_after(TRYING, &format!("{chunk:010}"), &mut note);
    listed.map_err(|error| job.file_error(TRYING, error))?;
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::jobs::{FilesInMemory, JobBoards, JobSpec, Recipe};
    use crate::service::{RequestedLimits, Want};
    use taquin_solver::heuristic::Tier;
    use taquin_solver::{Board, RandomSource, Size, SplitMix};

    fn job(count: u64, chunk: u32) -> StoredJob {
        let goal = Board::blank_last(Size::try_from((3, 3)).unwrap());
        let spec = JobSpec {
            boards: JobBoards::Recipe(Recipe::try_new(goal, "s", count).unwrap()),
            want: Want::Length,
            limits: RequestedLimits::default(),
            tables: Tier::Small,
            chunk,
            version: "1".to_owned(),
        };
        StoredJob::create_in(Arc::new(FilesInMemory::default()), &spec).unwrap()
    }

    /// Makes an attempt with a process that these rows end, and that ends at random too. Returns true if it survived.
    fn survives(job: &StoredJob, chunk: u64, deadly: &[u64], mut ends_now: impl FnMut() -> bool) -> bool {
        let attempt = Attempt::begin(job, chunk).unwrap();
        let mut next = 0;
        for run in attempt.runs() {
            assert_eq!(run.first, next, "no row is left out, and none comes twice");
            next += run.rows;
            attempt.mark(run).unwrap();
            let is_deadly = |row: &u64| (run.first..next).contains(row) && attempt.is_searched(*row);
            if deadly.iter().any(is_deadly) || ends_now() {
                return false;
            }
        }
        let boards = job.spec().boards_of(chunk);
        assert_eq!(next, boards.end - boards.start);
        true
    }

    fn failed(job: &StoredJob) -> Vec<u64> {
        let mut failed = Vec::new();
        job.files()
            .list(FAILED, &mut |name| failed.push(name.strip_suffix(".json").unwrap().parse().unwrap()))
            .unwrap();
        failed.sort_unstable();
        failed
    }

    #[test]
    fn each_single_board_is_found_and_no_other() {
        for rows in [1, 2, 15, 16, 17, 100, 300] {
            for deadly in 0..rows {
                let job = job(2 * rows, rows as u32);
                let attempts = (1..20).find(|_| survives(&job, 1, &[deadly], || false)).expect("it is found");
                assert_eq!(failed(&job), [rows + deadly], "of {rows}");
                assert!(attempts <= 7, "{attempts} attempts for row {deadly} of {rows}");
                assert!(survives(&job, 0, &[], || false), "another chunk is not concerned");
            }
        }
    }

    #[test]
    fn a_board_of_a_large_chunk_is_found_in_seven_attempts() {
        for deadly in [0, 1, 1023, 1024, 9999, 16383] {
            let job = job(16384, 16384);
            assert_eq!((1..20).find(|_| survives(&job, 0, &[deadly], || false)), Some(7), "row {deadly}");
            assert_eq!(failed(&job), [deadly]);
        }
    }

    #[test]
    fn several_boards_are_found_one_after_another() {
        let job = job(300, 300);
        let deadly = [3, 4, 150, 299];
        assert!((0..100).any(|_| survives(&job, 0, &deadly, || false)));
        assert_eq!(failed(&job), deadly);
    }

    #[test]
    fn processes_that_end_for_another_reason_are_no_proof() {
        let mut random = SplitMix(1);
        for _ in 0..50 {
            let job = job(300, 300);
            let deadly = random.next_u64() % 300;
            assert!((0..500).any(|_| survives(&job, 0, &[deadly], || random.next_u64().is_multiple_of(20))));
            assert_eq!(failed(&job), [deadly]);
        }
    }

    #[test]
    fn attempts_that_are_given_up_are_no_proof() {
        let job = job(300, 300);
        for _ in 0..20 {
            let attempt = Attempt::begin(&job, 0).unwrap();
            attempt.mark(attempt.runs()[0]).unwrap();
            attempt.give_up().unwrap();
        }
        assert!(survives(&job, 0, &[], || false));
        assert_eq!(failed(&job), [0; 0]);
    }
}
