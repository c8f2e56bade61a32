//! Labels as lines: of a recipe as they are found, or of a job.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::Ordering;

use super::arguments::{Boards, TextFormat, TextOutput};
use super::text_file::TextFile;
use super::{BatchError, Session, TaskEnd};
use crate::domain::Board;
use crate::http::Problem;
use crate::jobs::{CsvColumns, JobSpec, Row, StoredJob, board_json, chunk_size, label_json, map_in_order};
use crate::service::{Sweep, SweepContext, SweepError, Want};

/// Why lines end.
enum LinesEnd {
    Cancelled,
    Failed(BatchError),
}

/// How rows become lines.
struct Lines {
    format: TextFormat,
    columns: CsvColumns,
}

impl Session {
    /// Writes the labels of a recipe.
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(super) fn solve(&self, boards: &Boards, output: &TextOutput) -> Result<TaskEnd, BatchError> {
        /// A block is this part of what a chunk would be, so that lines come several times a second.
        const BLOCKS_OF_A_CHUNK: u32 = 64;
        let Boards { recipe, want, limits } = boards;
        self.load_tables(recipe.goal());
        let chunk = chunk_size(&self.tables, recipe, *want, *limits, self.search_memory);
        let block = u64::from((chunk / BLOCKS_OF_A_CHUNK).max(1));
        let lines = Lines::new(boards, output.format);
        let sweep = Sweep::new(&self.tables, *recipe.goal(), *want, *limits, self.search_memory);
        let file = TextFile::open(output)?;
        let first = lines.rows_of(file.lines).min(recipe.count());
        self.progress.total.store(recipe.count(), Ordering::Relaxed);
        self.progress.resumed.store(first, Ordering::Relaxed);
        let starts = (first..recipe.count()).step_by(block as usize);
        let blocks = starts.map(|start| start..(start + block).min(recipe.count()));
        let solved = |block| self.solve_block(boards, &sweep, &lines, block);
        let end =
            self.shown(|| self.write(&lines, file, blocks, |block| solved(block).map_err(|_| LinesEnd::Cancelled)));
        end.map(|is_whole| if is_whole { self.end() } else { TaskEnd::Cancelled })
    }

    fn solve_block(
        &self,
        boards: &Boards,
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
            let puzzle = boards.recipe.board(index);
            let row = match sweep.label(&puzzle, context) {
                Ok(label) => {
                    self.progress.hardest.fetch_max(label.length, Ordering::Relaxed);
                    Row::Solved(label)
                }
                Err(SweepError::Cancelled) => return Err(SweepError::Cancelled),
                Err(SweepError::Failed(_)) => {
                    self.progress.failed.fetch_add(1, Ordering::Relaxed);
                    Row::Failed
                }
            };
            self.progress.labelled.fetch_add(1, Ordering::Relaxed);
            lines.write(index, puzzle.start(), &row, &mut out);
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
        let JobSpec { recipe, want, limits, .. } = job.spec();
        let lines = Lines::new(&Boards { recipe: recipe.clone(), want: *want, limits: *limits }, output.format);
        let file = TextFile::open(output)?;
        self.progress.total.store(recipe.count(), Ordering::Relaxed);
        let chunk = |chunk: u64| {
            if self.is_cancelled() {
                return Err(LinesEnd::Cancelled);
            }
            let part = job.part(chunk).map_err(|error| LinesEnd::Failed(error.into()))?;
            let (part, _) = part.ok_or(LinesEnd::Cancelled)?;
            let mut out = Vec::new();
            for (index, row) in job.spec().boards_of(chunk).zip(part.rows()) {
                match &row {
                    Row::Solved(label) => self.progress.hardest.fetch_max(label.length, Ordering::Relaxed),
                    Row::Failed => self.progress.failed.fetch_add(1, Ordering::Relaxed) as u32,
                };
                lines.write(index, recipe.board(index).start(), &row, &mut out);
            }
            self.progress.labelled.fetch_add(part.len() as u64, Ordering::Relaxed);
            Ok(out)
        };
        let end = self.shown(|| self.write(&lines, file, 0..job.spec().chunks(), chunk));
        end.map(|is_whole| if is_whole { self.end() } else { TaskEnd::Cancelled })
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

impl Lines {
    fn new(boards: &Boards, format: TextFormat) -> Self {
        let Boards { recipe, want, limits } = boards;
        let size = recipe.goal().size();
        // Without limits, lengths are proven up to 16 cells.
        let is_proven = Sweep::serves(Want::Next, size) && limits.time.is_none() && limits.expanded.is_none();
        let has_bound = *want == Want::Bounds || !is_proven;
        Self { format, columns: CsvColumns { size, want: *want, has_bound } }
    }

    fn header(&self, out: &mut Vec<u8>) {
        if self.format == TextFormat::Csv {
            self.columns.header(out);
        }
    }

    /// Number of rows of a file with so many lines.
    fn rows_of(&self, lines: u64) -> u64 {
        lines - u64::from(self.format == TextFormat::Csv && lines > 0)
    }

    fn write(&self, index: u64, board: &Board, row: &Row, out: &mut Vec<u8>) {
        if self.format == TextFormat::Csv {
            return self.columns.line(board, row, out);
        }
        out.extend_from_slice(format!("{{\"index\":{index},\"board\":").as_bytes());
        board_json(board, out);
        out.push(b',');
        match row {
            Row::Solved(label) => label_json(label, self.columns.want, out),
            Row::Failed => {
                let problem = Problem::internal();
                let status = problem.kind.status().as_u16();
                let problem = serde_json::to_string(&problem).unwrap_or_default();
                out.extend_from_slice(format!("\"status\":{status},\"problem\":{problem}").as_bytes());
            }
        }
        out.extend_from_slice(b"}\n");
    }
}
