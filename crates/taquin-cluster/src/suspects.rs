//! Finds the boards whose search crashes the process, so that all other boards of their chunk get a label.
//!
//! In an isolated attempt, a worker creates a file before it labels each range of rows. If the process dies, the last
//! of these files gives the range that the process was labelling. The next attempt splits this range. A row at which
//! three failed attempts in succession ended is not searched again.

use std::collections::{BTreeMap, BTreeSet};

use taquin_bulk::{JobError, StoredJob};

/// A range of rows of a chunk. Row 0 is the first row of the chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RowRange {
    pub(crate) first: u64,
    pub(crate) rows: u64,
}

/// One isolated attempt to label a chunk.
#[derive(Debug)]
pub(crate) struct Attempt<'j> {
    job: &'j StoredJob,
    chunk: u64,
    number: u64,
    /// The range in which the last failed attempt ended; `None` if there is no range to split.
    suspicion: Option<RowRange>,
    /// Numbers of the rows that are not searched. Row 0 is the first row of the chunk.
    failed: BTreeSet<u64>,
}

/// Folder with a file for each range that an attempt began to label. The name of a file is `CHUNK-ATTEMPT-FIRST-ROWS`.
const TRYING: &str = "trying";
/// Folder with a file for each row that is not searched again. The name of a file is `INDEX.json`, with the index of
/// the board in the job.
const FAILED: &str = "failed";
/// Replaces the first row in the name of a file in [`TRYING`]. The file then records that the process survived the
/// attempt.
const GIVEN_UP: u64 = 9_999_999_999;
/// Maximum number of ranges into which a suspicious range is split.
const RANGES: u64 = 16;
/// Number of failed attempts in succession that must end at a row before the row is excluded from further searches.
const PROOF: usize = 3;

impl<'j> Attempt<'j> {
    /// Begins an attempt. Finds the ranges in which earlier attempts ended. If the last [`PROOF`] failed attempts ended
    /// at the same row, records the row as failed.
    pub(crate) fn begin(job: &'j StoredJob, chunk: u64) -> Result<Self, JobError> {
        let mut attempts: BTreeMap<u64, RowRange> = BTreeMap::new();
        for [of, attempt, first, rows] in ranges_of(job, chunk)? {
            let last = attempts.entry(attempt).or_insert(RowRange { first, rows });
            if of == chunk && first >= last.first {
                *last = RowRange { first, rows };
            }
        }
        let number = attempts.last_key_value().map_or(1, |(last, _)| last + 1);
        let ends: Vec<RowRange> = attempts.into_values().rev().filter(|end| end.first != GIVEN_UP).collect();
        let mut attempt = Self { job, chunk, number, suspicion: ends.first().copied(), failed: BTreeSet::new() };
        attempt.failed = attempt.failed_rows()?;
        if let Some(row) = attempt.proven(&ends) {
            attempt.note_failed(row)?;
        }
        attempt.suspicion = attempt.suspicion.filter(|range| range.rows > 1 || !attempt.failed.contains(&range.first));
        Ok(attempt)
    }

    /// Returns the row at which the last [`PROOF`] failed attempts ended. Returns `None` if there were fewer failed
    /// attempts, if the attempts did not all end at one row, or if the row is already recorded.
    fn proven(&self, ends: &[RowRange]) -> Option<u64> {
        let last = *ends.first().filter(|range| range.rows == 1)?;
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

    /// Returns the ranges of this attempt, in order. The suspicious range is split into short ranges. If there is no
    /// suspicious range, the whole chunk is split.
    pub(crate) fn ranges(&self) -> Vec<RowRange> {
        let boards = self.job.spec().boards_of(self.chunk);
        let all = RowRange { first: 0, rows: boards.end - boards.start };
        let suspicious = self.suspicion.unwrap_or(all);
        let (from, to) = (suspicious.first, suspicious.first + suspicious.rows);
        let step = suspicious.rows.div_ceil(RANGES);
        let short = (0..suspicious.rows.div_ceil(step)).map(|nth| {
            let first = from + nth * step;
            RowRange { first, rows: step.min(to - first) }
        });
        let before = RowRange { first: 0, rows: from };
        let after = RowRange { first: to, rows: all.rows - to };
        let ranges = std::iter::once(before).chain(short).chain([after]);
        ranges.filter(|range| range.rows > 0).collect()
    }

    /// Records that this attempt begins to label a range.
    pub(crate) fn mark(&self, range: RowRange) -> Result<(), JobError> {
        let Self { chunk, number, .. } = self;
        let RowRange { first, rows } = range;
        self.create(TRYING, &format!("{chunk:010}-{number:010}-{first:010}-{rows:010}"), b"")
    }

    /// Records that the process survived this unfinished attempt. So the attempt does not count against a board.
    pub(crate) fn give_up(&self) -> Result<(), JobError> {
        self.mark(RowRange { first: GIVEN_UP, rows: 0 })
    }

    pub(crate) fn is_searched(&self, row: u64) -> bool {
        !self.failed.contains(&row)
    }
}

/// Lists the ranges of a chunk that attempts began to label. Each item has the chunk, the attempt, the first row and
/// the number of rows.
fn ranges_of(job: &StoredJob, chunk: u64) -> Result<Vec<[u64; 4]>, JobError> {
    let mut ranges = Vec::new();
    let mut note = |name: &str| {
        let numbers: Option<Vec<u64>> = name.split('-').map(|number| number.parse().ok()).collect();
        ranges.extend(numbers.and_then(|numbers| <[u64; 4]>::try_from(numbers).ok()).filter(|range| range[0] == chunk));
    };
    let listed = job.files().list_after(TRYING, &format!("{chunk:010}"), &mut note);
    listed.map_err(|error| job.file_error(TRYING, error))?;
    Ok(ranges)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use taquin_bulk::test_files::FilesInMemory;
    use taquin_bulk::{JobBoards, JobSpec, Recipe, RequestedLimits, Want};

    use super::*;
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

    /// Simulates an attempt of a process that dies at each row of `deadly`, and whenever `ends_now` returns true.
    /// Returns true if the process survives.
    fn survives(job: &StoredJob, chunk: u64, deadly: &[u64], mut ends_now: impl FnMut() -> bool) -> bool {
        let attempt = Attempt::begin(job, chunk).unwrap();
        let mut next = 0;
        for range in attempt.ranges() {
            assert_eq!(range.first, next, "no row is left out, and none comes twice");
            next += range.rows;
            attempt.mark(range).unwrap();
            let is_deadly = |row: &u64| (range.first..next).contains(row) && attempt.is_searched(*row);
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
            attempt.mark(attempt.ranges()[0]).unwrap();
            attempt.give_up().unwrap();
        }
        assert!(survives(&job, 0, &[], || false));
        assert_eq!(failed(&job), [0; 0]);
    }
}
