//! Checks the files of a job, compares the parts with the manifest, and compares a sample of the labels with new
//! searches.

use std::fmt;
use std::ops::Range;

use taquin_solver::Puzzle;

use crate::batch_solver::BatchSolver;
use crate::input_problems::InputProblems;
use crate::label::{Label, LabelControl, Want};
use crate::manifest::{Manifest, ManifestPart, Totals};
use crate::part::{Part, Row};
use crate::runner::Resources;
use crate::spec::JobBoards;
use crate::stored_job::{JobError, StoredJob};

/// Result of a check.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Check {
    /// Number of readable parts.
    pub parts: u64,
    /// Number of missing parts.
    pub missing: u64,
    /// Number of rows in the readable parts, including invalid rows.
    pub boards: u64,
    /// Number of labels in the sample. Sampled rows without a label do not count.
    pub sampled: u64,
    /// True if `end.json` has the state `completed`.
    pub is_complete: bool,
    /// The faults that the check found.
    pub findings: Vec<CheckFinding>,
}

/// A fault of a job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CheckFinding {
    /// A part is damaged, or a file of the input is damaged or missing. The value is the error message. A missing part
    /// is not a finding, because [`Check::missing`] counts it.
    Unreadable(String),
    /// A part does not match the manifest, or the manifest does not list the part. The value is the number of the
    /// chunk, counted from 0.
    Digest(u64),
    /// The counts of the rows in the manifest do not match the readable parts, or the manifest lists too few or too
    /// many parts.
    Totals,
    /// A row of the sample contradicts the solver or the input, or the new search for the row failed.
    Label {
        /// Index of the row in the job, counted from 0.
        index: u64,
        /// Description of the contradiction or of the failure.
        reason: &'static str,
    },
}

impl fmt::Display for CheckFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(reason) => f.write_str(reason),
            Self::Digest(chunk) => write!(f, "chunk {chunk}: the part is not the one that end.json lists"),
            Self::Totals => f.write_str("end.json: the counts do not match the parts"),
            Self::Label { index, reason } => write!(f, "board {index}: {reason}"),
        }
    }
}

/// Checks the files of the input and all existing parts, and solves about `sample` boards again. The sample has every
/// n-th row of the job. The index of the first row in the sample is `offset` modulo n. Rows without a label are not
/// solved again. If a file of the input is damaged or missing, no board is solved.
///
/// A cancelled search counts as a fault. So the caller must discard the result if the cancel flag of `resources` is
/// set.
///
/// # Errors
/// [`JobError`] if the storage fails, or if `end.json` is damaged. A damaged part is a finding, not an error. A damaged
/// or missing file of the input is a finding too.
pub fn check(job: &StoredJob, sample: u64, offset: u64, resources: &Resources<'_>) -> Result<Check, JobError> {
    let spec = job.spec();
    let manifest = job.manifest()?;
    let mut check = Check { is_complete: manifest.is_some(), ..Check::default() };
    let mut totals = Totals::default();
    let sample = match job.check_input(0..spec.boards.count()) {
        Ok(()) => sample,
        // If the boards cannot be read, no label can be checked.
        Err(error) => check.find(error).map(|()| 0)?,
    };
    let stride = spec.boards.count().div_ceil(sample.max(1));
    let is_sampled = |index: u64| sample > 0 && index % stride == offset % stride;
    let mut solver = resources.solver(job);
    let mut problems = InputProblems::new(spec.boards.problems());
    for (chunk, is_done) in (0..).zip(job.done()?) {
        if !is_done {
            check.missing += 1;
            continue;
        }
        let Some(part) = check.read(job, chunk, manifest.as_ref())? else { continue };
        if let Err(error) = job.check_problems(&mut problems, chunk, &part) {
            check.find(error)?;
        }
        for (index, row) in spec.boards_of(chunk).zip(part.rows()) {
            totals.count(&row);
            if is_sampled(index) {
                check.sampled += u64::from(matches!(row, Row::Solved(_)));
                let puzzle = job.boards(index..index + 1)?.next().flatten();
                let reason = match (row, puzzle) {
                    (Row::Solved(label), Some(puzzle)) => fault(job, &mut solver, &puzzle, &label, resources),
                    (Row::Solved(_), None) | (Row::Invalid, Some(_)) => Some("the row of the input contradicts it"),
                    (Row::Failed | Row::Invalid, _) => None,
                };
                check.findings.extend(reason.map(|reason| CheckFinding::Label { index, reason }));
            }
        }
    }
    if manifest.is_some_and(|manifest| !agrees(&manifest, job, &totals)) {
        check.findings.push(CheckFinding::Totals);
    }
    Ok(check)
}

impl StoredJob {
    /// Checks the parts of the chunks with the numbers `parts`, and checks the files of the input that contain the
    /// boards of these chunks. If `has_problems` is true, also checks the stored problems of the invalid rows in these
    /// chunks.
    ///
    /// # Errors
    /// [`JobError`] if a file is damaged, missing or unreadable.
    pub fn check_rows(&self, parts: Range<u64>, has_problems: bool) -> Result<(), JobError> {
        let spec = self.spec();
        if !parts.is_empty() {
            self.check_input(spec.boards_of(parts.start).start..spec.boards_of(parts.end - 1).end)?;
        }
        let mut problems = InputProblems::new(spec.boards.problems());
        for chunk in parts {
            let (part, _) = self.part(chunk)?.ok_or_else(|| self.missing_part(chunk))?;
            if has_problems {
                self.check_problems(&mut problems, chunk, &part)?;
            }
        }
        Ok(())
    }

    /// Checks the parts of the input that contain these rows. Does nothing if the boards come from a recipe.
    fn check_input(&self, rows: Range<u64>) -> Result<(), JobError> {
        match &self.spec().boards {
            JobBoards::Recipe(_) => Ok(()),
            JobBoards::Input(input) => {
                let checked = input.reader(self.files()).and_then(|reader| reader.check(&rows));
                checked.map_err(|source| self.input_error(source))
            }
        }
    }

    /// Checks that the stored problems of the invalid rows of a part can be read.
    fn check_problems(&self, problems: &mut InputProblems, chunk: u64, part: &Part) -> Result<(), JobError> {
        let first = self.spec().boards_of(chunk).start;
        part.invalid_rows().try_for_each(|row| {
            problems.of(self.files(), first + row as u64).map(drop).map_err(|source| self.input_error(source))
        })
    }
}

impl Check {
    /// Returns true if the job is complete and has no faults.
    pub fn is_sound(&self) -> bool {
        self.is_complete && self.missing == 0 && self.findings.is_empty()
    }

    /// Adds an error to the findings.
    ///
    /// # Errors
    /// Returns the error itself if the storage failed. Such an error is not a finding.
    fn find(&mut self, error: JobError) -> Result<(), JobError> {
        if error.is_temporary() {
            return Err(error);
        }
        self.findings.push(CheckFinding::Unreadable(error.to_string()));
        Ok(())
    }

    /// Reads a part, and compares the part with the manifest. Adds a finding if the part is damaged or differs from the
    /// manifest. Returns `None` if the part is missing or damaged.
    ///
    /// # Errors
    /// [`JobError`] if the storage fails.
    fn read(&mut self, job: &StoredJob, chunk: u64, manifest: Option<&Manifest>) -> Result<Option<Part>, JobError> {
        let (part, bytes) = match job.part(chunk) {
            Ok(Some(part)) => part,
            Ok(None) => return Ok(None),
            Err(error) => return self.find(error).map(|()| None),
        };
        self.parts += 1;
        self.boards += part.len() as u64;
        let own = ManifestPart::new(chunk, part.len(), &bytes);
        if manifest.is_some_and(|manifest| manifest.parts.get(chunk as usize) != Some(&own)) {
            self.findings.push(CheckFinding::Digest(chunk));
        }
        Ok(Some(part))
    }
}

fn agrees(manifest: &Manifest, job: &StoredJob, totals: &Totals) -> bool {
    manifest.totals == *totals && manifest.parts.len() as u64 == job.spec().chunks()
}

/// Solves a board again, and compares the result with the stored label. Returns a description of the first fault of the
/// stored label; `None` if the label has no fault. A failed or cancelled search is a fault too.
fn fault(
    job: &StoredJob,
    solver: &mut BatchSolver<'_>,
    puzzle: &Puzzle,
    label: &Label,
    resources: &Resources<'_>,
) -> Option<&'static str> {
    if label.path.as_ref().is_some_and(|path| path.replay(puzzle).is_err()) {
        return Some("the moves do not lead to the goal");
    }
    let control = LabelControl { cancel: &[resources.cancel], ..LabelControl::default() };
    let Ok(fresh) = solver.label(puzzle, control) else { return Some("the search failed") };
    let spec = job.spec();
    if fresh.lower_bound > label.length || label.lower_bound > fresh.length {
        return Some("the bounds contradict the bounds of the solver");
    }
    if label.is_optimal() && fresh.is_optimal() && label.length != fresh.length {
        return Some("the length is not the optimal one");
    }
    let is_of_this_version = spec.has_unique_labels() || spec.version == env!("CARGO_PKG_VERSION");
    if spec.depends_on_time() || !is_of_this_version || stored(fresh, spec.want) == Row::Solved(label.clone()) {
        return None;
    }
    Some("the label is not the one that the solver finds")
}

/// Returns the row of a part that stores the label. A part of one kind of labels does not have the other fields.
fn stored(label: Label, want: Want) -> Row {
    let mut part = Part::new(want);
    part.push(&Row::Solved(label));
    part.into_rows().next().expect("the part has the row")
}
