//! Labels as lines: of a recipe as they are found, or of a job.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::Ordering;

use super::arguments::TextOutput;
use super::lines::Lines;
use super::text_file::TextFile;
use super::{BatchError, Session, TaskEnd};
use crate::jobs::{JobSpec, Recipe, Row, SampledBoards, StoredJob, chunk_size, map_in_order};
use crate::service::{RequestedLimits, Sweep, SweepContext, SweepError, Want};

/// Why lines end.
enum LinesEnd {
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
        /// A block is this part of what a chunk would be, so that lines come several times a second.
        const BLOCKS_OF_A_CHUNK: u32 = 64;
        let goal = *recipe.goal();
        self.load_tables(&goal);
        let sampled = SampledBoards::of_recipe(recipe);
        let sweep_limits = self.sweep_limits(limits);
        let chunk = chunk_size(&self.tables, &sampled, want, sweep_limits);
        let block = u64::from((chunk / BLOCKS_OF_A_CHUNK).max(1));
        let lines = Lines::new(goal.size(), want, limits, output.format);
        let sweep = Sweep::new(&self.tables, goal, want, sweep_limits);
        let file = TextFile::open(output)?;
        let first = file.rows().min(recipe.count());
        self.progress.total.store(recipe.count(), Ordering::Relaxed);
        self.progress.resumed.store(first, Ordering::Relaxed);
        let starts = (first..recipe.count()).step_by(block as usize);
        let blocks = starts.map(|start| start..(start + block).min(recipe.count()));
        let solved = |block| self.solve_block(recipe, &sweep, &lines, block).map_err(|_| LinesEnd::Cancelled);
        let is_whole = self.shown(|| self.write(&lines, file, blocks, solved))?;
        Ok(if is_whole { self.end() } else { TaskEnd::Cancelled })
    }

    fn solve_block(
        &self,
        recipe: &Recipe,
        sweep: &Sweep<'_>,
        lines: &Lines,
        block: Range<u64>,
    ) -> Result<Vec<u8>, SweepError> {
        let context = SweepContext { cancel: &[&self.cancel], helpers: None };
        let mut out = Vec::new();
        for index in block {
            if self.is_cancelled() {
                return Err(SweepError::Cancelled);
            }
            let puzzle = recipe.board(index);
            let row = match sweep.label(&puzzle, context) {
                Ok(label) => Row::Solved(label),
                Err(SweepError::Cancelled) => return Err(SweepError::Cancelled),
                Err(SweepError::Failed(_)) => Row::Failed,
            };
            self.progress.count(&row);
            lines.write(index, Some(puzzle.start()), &row, &mut out);
        }
        Ok(out)
    }

    /// Writes the labels of a complete job.
    ///
    /// # Errors
    /// See [`BatchError`].
    pub(super) fn export(&self, directory: &Path, output: &TextOutput) -> Result<TaskEnd, BatchError> {
        let job = StoredJob::open(directory)?;
        let missing = job.done()?.iter().filter(|is_done| !**is_done).count() as u64;
        if missing > 0 {
            let path = directory.to_owned();
            return Err(BatchError::Incomplete { path, missing, chunks: job.spec().chunks() });
        }
        let JobSpec { boards, want, limits, .. } = job.spec();
        let lines = Lines::new(boards.goal().size(), *want, *limits, output.format);
        let file = TextFile::open(output)?;
        self.progress.total.store(boards.count(), Ordering::Relaxed);
        let chunk = |chunk: u64| {
            if self.is_cancelled() {
                return Err(LinesEnd::Cancelled);
            }
            self.export_chunk(&job, &lines, chunk).map_err(LinesEnd::Failed)
        };
        let is_whole = self.shown(|| self.write(&lines, file, 0..job.spec().chunks(), chunk))?;
        Ok(if is_whole { self.end() } else { TaskEnd::Cancelled })
    }

    fn export_chunk(&self, job: &StoredJob, lines: &Lines, chunk: u64) -> Result<Vec<u8>, BatchError> {
        let missing =
            || BatchError::Incomplete { path: job.path().to_owned(), missing: 1, chunks: job.spec().chunks() };
        let (part, _) = job.part(chunk)?.ok_or_else(missing)?;
        let indices = job.spec().boards_of(chunk);
        let mut out = Vec::new();
        for ((index, puzzle), row) in indices.clone().zip(job.boards(indices)?).zip(part.rows()) {
            self.progress.count(&row);
            lines.write(index, puzzle.as_ref().map(|puzzle| puzzle.start()), &row, &mut out);
        }
        Ok(out)
    }

    /// Writes blocks of lines in their order. Returns false if it was cancelled; the lines so far are written.
    fn write<I: Send>(
        &self,
        lines: &Lines,
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
