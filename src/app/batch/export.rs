//! Labels as lines: of a recipe as they are found, or of a job.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::Ordering;

use super::arguments::TextOutput;
use super::lines::lines;
use super::text_file::TextFile;
use super::{BatchError, Session, TaskEnd};
use crate::domain::{Board, Puzzle};
use crate::http::LabelLines;
use crate::jobs::{JobError, JobSpec, Recipe, Row, SampledBoards, StoredJob, chunk_size, map_in_order};
use crate::service::{RequestedLimits, Sweep, SweepContext, SweepError, Want};

/// Why rows end.
pub(super) enum LinesEnd {
    Cancelled,
    Failed(BatchError),
}

impl Session {
    /// Writes the labels of a recipe.
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(super) fn solve(
        &self,
        recipe: &Recipe,
        want: Want,
        limits: RequestedLimits,
        output: &TextOutput,
    ) -> Result<TaskEnd, BatchError> {
        let goal = *recipe.goal();
        self.load_tables(&goal);
        let sampled = SampledBoards::of_recipe(recipe);
        let sweep_limits = self.sweep_limits(limits);
        let block = block_of(chunk_size(&self.tables, &sampled, want, sweep_limits));
        let lines = lines(goal.size(), want, limits, output.format);
        let sweep = Sweep::new(&self.tables, goal, want, sweep_limits);
        let file = TextFile::open(output)?;
        let first = file.rows().min(recipe.count());
        self.progress.total.store(recipe.count(), Ordering::Relaxed);
        self.progress.resumed.store(first, Ordering::Relaxed);
        let starts = (first..recipe.count()).step_by(block as usize);
        let blocks = starts.map(|start| start..(start + block).min(recipe.count()));
        let solved = |block| {
            let mut out = Vec::new();
            self.solve_block(recipe, &sweep, block, &mut |index, board, row| {
                lines.write(index, Some(board), row, &mut out);
            })?;
            Ok(out)
        };
        let is_whole = self.shown(|| self.write(&lines, file, blocks, solved))?;
        Ok(if is_whole { self.end() } else { TaskEnd::Cancelled })
    }

    /// Calls `take` with each row of a block, as it is solved.
    ///
    /// # Errors
    /// [`LinesEnd::Cancelled`].
    pub(super) fn solve_block(
        &self,
        recipe: &Recipe,
        sweep: &Sweep<'_>,
        block: Range<u64>,
        take: &mut dyn FnMut(u64, &Board, &Row),
    ) -> Result<(), LinesEnd> {
        let context = SweepContext { cancel: &[&self.cancel], helpers: None };
        for index in block {
            if self.is_cancelled() {
                return Err(LinesEnd::Cancelled);
            }
            let puzzle = recipe.board(index);
            let row = match sweep.label(&puzzle, context) {
                Ok(label) => Row::Solved(label),
                Err(SweepError::Cancelled) => return Err(LinesEnd::Cancelled),
                Err(SweepError::Failed(_)) => Row::Failed,
            };
            self.progress.count(&row);
            take(index, puzzle.start(), &row);
        }
        Ok(())
    }

    /// Opens a job all of whose parts exist.
    ///
    /// # Errors
    /// [`BatchError::Job`] and [`BatchError::Incomplete`].
    pub(super) fn open_complete(&self, directory: &Path) -> Result<StoredJob, BatchError> {
        let job = StoredJob::open(directory)?;
        match job.done()?.iter().filter(|is_done| !**is_done).count() as u64 {
            0 => Ok(job),
            missing => Err(BatchError::Incomplete { path: directory.to_owned(), missing, chunks: job.spec().chunks() }),
        }
    }

    /// Calls `take` with those rows of a chunk that are among `indices`.
    ///
    /// # Errors
    /// See [`LinesEnd`].
    pub(super) fn read_chunk(
        &self,
        job: &StoredJob,
        chunk: u64,
        indices: &Range<u64>,
        take: &mut dyn FnMut(u64, Option<&Board>, &Row),
    ) -> Result<(), LinesEnd> {
        if self.is_cancelled() {
            return Err(LinesEnd::Cancelled);
        }
        let failed = |error: JobError| LinesEnd::Failed(error.into());
        let (part, _) = job.part(chunk).map_err(failed)?.ok_or(LinesEnd::Cancelled)?;
        let of_chunk = job.spec().boards_of(chunk);
        let puzzles = job.boards(of_chunk.clone()).map_err(failed)?;
        for ((index, puzzle), row) in of_chunk.zip(puzzles).zip(part.rows()) {
            if indices.contains(&index) {
                self.progress.count(&row);
                take(index, puzzle.as_ref().map(Puzzle::start), &row);
            }
        }
        Ok(())
    }

    /// Writes the labels of a complete job.
    ///
    /// # Errors
    /// See [`BatchError`].
    pub(super) fn export(&self, directory: &Path, output: &TextOutput) -> Result<TaskEnd, BatchError> {
        let job = self.open_complete(directory)?;
        let JobSpec { boards, want, limits, .. } = job.spec();
        let lines = lines(boards.goal().size(), *want, *limits, output.format);
        let file = TextFile::open(output)?;
        self.progress.total.store(boards.count(), Ordering::Relaxed);
        let chunk = |chunk: u64| {
            let mut out = Vec::new();
            let indices = job.spec().boards_of(chunk);
            self.read_chunk(&job, chunk, &indices, &mut |index, board, row| lines.write(index, board, row, &mut out))?;
            Ok(out)
        };
        let is_whole = self.shown(|| self.write(&lines, file, 0..job.spec().chunks(), chunk))?;
        Ok(if is_whole { self.end() } else { TaskEnd::Cancelled })
    }

    /// Writes blocks of lines in their order. Returns false if it was cancelled; the lines so far are written.
    fn write<I: Send>(
        &self,
        lines: &LabelLines,
        mut file: TextFile,
        blocks: impl Iterator<Item = I> + Send,
        block: impl Fn(I) -> Result<Vec<u8>, LinesEnd> + Sync,
    ) -> Result<bool, BatchError> {
        let mut header = Vec::new();
        if file.lines == 0 {
            lines.header(&mut header);
        }
        file.write(&header)?;
        let blocks = blocks.take_while(|_| !self.is_cancelled());
        let end = map_in_order(self.threads, blocks, block, |block| file.write(&block?).map_err(LinesEnd::Failed));
        file.finish()?;
        match end {
            Err(LinesEnd::Failed(error)) => Err(error),
            Err(LinesEnd::Cancelled) => Ok(false),
            Ok(()) => Ok(!self.is_cancelled()),
        }
    }
}

/// Boards of a block: this part of what a chunk would be, so that rows come several times a second.
pub(super) fn block_of(chunk: u32) -> u64 {
    const BLOCKS_OF_A_CHUNK: u32 = 64;
    (chunk / BLOCKS_OF_A_CHUNK).max(1).into()
}
