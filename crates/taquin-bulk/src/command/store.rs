//! Stores labels in the directory of a job, and checks the directory of a job.

use std::path::Path;

use crate::{
    Directory, JobBoards, JobError, JobSpec, RequestedLimits, RunEnd, Shard, StoredJob, Want, check, chunk_size, run,
};

use super::arguments::{Boards, Source, unserved_want};
use super::console::{counted, say};
use super::{BatchEnding, BatchError, Session};

/// Maximum number of findings of a check that are printed.
const PRINTED_FINDINGS: usize = 20;

impl Session<'_> {
    /// Opens or creates a job, and makes the missing parts of a shard. Completes the job if all parts exist afterwards.
    ///
    /// # Errors
    /// See [`BatchError`].
    pub(crate) fn store(
        &self,
        boards: &Boards,
        directory: &Path,
        (shard, chunk): (Shard, Option<u32>),
    ) -> Result<BatchEnding, BatchError> {
        let Boards { source, want, limits } = boards;
        let (want, limits) = (*want, *limits);
        let boards = match source {
            Source::Recipe(recipe) => JobBoards::Recipe(recipe.clone()),
            Source::Rows(input) => match self.store_input(input, directory)? {
                Some(record) => JobBoards::Input(record),
                None => return Ok(BatchEnding::Cancelled),
            },
        };
        if !want.serves(boards.goal().size()) {
            return Err(BatchError::Arguments(vec![unserved_want(boards.goal().size())]));
        }
        self.load_tables(boards.goal(), want);
        let job = self.job(boards, (want, limits), directory, chunk)?;
        let end = self.shown(|| Ok(run(&job, shard, &self.resources, &self.progress)?))?;
        if end == RunEnd::Cancelled {
            return Ok(BatchEnding::Cancelled);
        }
        let directory = directory.display();
        if job.complete()? {
            job.put_card()?;
            say(format_args!(
                "{directory} is complete: {}, which end.json lists",
                counted(job.spec().chunks(), "part")
            ));
            // The manifest also counts the rows in parts of earlier runs.
            let has_failed = job.manifest()?.is_some_and(|manifest| manifest.totals.has_failures());
            return Ok(if has_failed { BatchEnding::RowsFailed } else { BatchEnding::Clean });
        } else {
            say(format_args!("this shard of {directory} is complete, others are not"));
        }
        Ok(self.end())
    }

    /// Opens the job in a directory. Creates the job if the directory has no job. `chunk` is the value of `--chunk`;
    /// `None` if the flag is absent.
    fn job(
        &self,
        boards: JobBoards,
        (want, limits): (Want, RequestedLimits),
        directory: &Path,
        chunk: Option<u32>,
    ) -> Result<StoredJob, BatchError> {
        let existing = match StoredJob::open(directory) {
            Ok(job) => Some(job.spec().chunk),
            Err(JobError::NoJob(_)) => None,
            Err(error) => return Err(error.into()),
        };
        let chosen = match chunk.or(existing) {
            Some(chunk) => chunk,
            None => {
                let sampled = boards.sample(&Directory::at(directory))?;
                chunk_size(self.resources.tables, &sampled, want, self.label_limits(limits))
            }
        };
        let version = self.version.to_owned();
        let spec = JobSpec { boards, want, limits, tables: self.tier, chunk: chosen, version };
        if !spec.has_valid_chunks() {
            return Err(BatchError::Arguments(vec!["--chunk: so many boards need larger chunks".to_owned()]));
        }
        let job = StoredJob::create(directory, &spec)?;
        if chunk.is_some_and(|chunk| chunk != job.spec().chunk) {
            return Err(BatchError::OtherChunk { path: directory.to_owned(), chunk: job.spec().chunk });
        }
        Ok(job)
    }

    /// Checks a job, and prints the findings. `sample` is the approximate number of boards that are solved again.
    ///
    /// # Errors
    /// See [`BatchError`].
    pub(crate) fn verify(&self, directory: &Path, sample: u64) -> Result<BatchEnding, BatchError> {
        let job = StoredJob::open(directory)?;
        self.load_tables(job.spec().boards.goal(), job.spec().want);
        let offset = getrandom::u64().map_err(|error| BatchError::Start(std::io::Error::other(error)))?;
        let check = check(&job, sample, offset, &self.resources)?;
        if self.is_cancelled() {
            return Ok(BatchEnding::Cancelled);
        }
        check.findings.iter().take(PRINTED_FINDINGS).for_each(say);
        let more = check.findings.len().saturating_sub(PRINTED_FINDINGS);
        if more > 0 {
            say(format_args!("and {more} more"));
        }
        let state = match (check.missing, check.is_complete) {
            (0, true) => "complete".to_owned(),
            (0, false) => "incomplete: end.json is missing".to_owned(),
            (1, _) => "incomplete: 1 part is missing".to_owned(),
            (missing, _) => format!("incomplete: {missing} parts are missing"),
        };
        let [parts, boards, sampled] = [(check.parts, "part"), (check.boards, "board"), (check.sampled, "board")]
            .map(|(n, thing)| counted(n, thing));
        let findings = match check.findings.len() {
            0 => "nothing is wrong".to_owned(),
            count => counted(count as u64, "fault"),
        };
        say(format_args!(
            "{} is {state}; {parts} with {boards}; {sampled} solved again; {findings}",
            directory.display()
        ));
        Ok(if check.is_sound() { BatchEnding::Clean } else { BatchEnding::RowsFailed })
    }
}
