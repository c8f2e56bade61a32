//! Labels as Parquet: in one file, or in the files of a data set with its card.

use std::fs;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use super::arguments::{Boards, ParquetOutput, ParquetSource, Source};
use super::console::say;
use super::export::{LinesEnd, block_of};
use super::input::{LineBlock, RowInput};
use super::lines::problem_of;
use super::rows::{Early, Labeller, RowLines};
use super::{BatchError, Session, TaskEnd};
use crate::domain::{Board, Puzzle, Size};
use crate::http::{LabelLines, RowReader};
use crate::jobs::{
    Created, Directory, Files, JobBoards, JobSpec, NewFile, ParquetColumns, ParquetFile, ParquetRow, ParquetRows,
    Recipe, Row, SampledBoards, Totals, chunk_size, data_files, data_set_card, map_in_order,
};
use crate::service::{RequestedLimits, Sweep, Want};

/// Name of the card in a data set.
const CARD: &str = "README.md";

/// Rows that one thread makes at a time, and what they count.
type Block = (ParquetRows, Totals);

/// Rows that can be made in any order.
struct RowSource<'s> {
    spec: JobSpec,
    columns: ParquetColumns,
    /// Rows of a block.
    block: u64,
    /// Calls the function with each row of a block.
    #[expect(clippy::type_complexity, reason = "it has no other use")]
    rows: Box<dyn Fn(Range<u64>, &mut dyn FnMut(u64, Option<&Board>, &Row)) -> Result<(), LinesEnd> + Sync + 's>,
}

impl Session {
    /// Writes labels as Parquet.
    ///
    /// # Errors
    /// See [`BatchError`].
    pub(super) fn write_parquet(&self, source: &ParquetSource, output: &ParquetOutput) -> Result<TaskEnd, BatchError> {
        check_output(output)?;
        let Boards { source, want, limits } = match source {
            ParquetSource::Boards(boards) => &**boards,
            ParquetSource::Job(directory) => return self.write_job(directory, output),
        };
        match source {
            Source::Recipe(recipe) => self.write_recipe(recipe, *want, *limits, output),
            Source::Rows(input) => self.write_input(input, *want, *limits, output),
        }
    }

    fn write_recipe(
        &self,
        recipe: &Recipe,
        want: Want,
        limits: RequestedLimits,
        output: &ParquetOutput,
    ) -> Result<TaskEnd, BatchError> {
        self.load_tables(recipe.goal());
        let sweep_limits = self.sweep_limits(limits);
        let chunk = chunk_size(&self.tables, &SampledBoards::of_recipe(recipe), want, sweep_limits);
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let boards = JobBoards::Recipe(recipe.clone());
        let spec = JobSpec { boards, want, limits, tables: self.tier, chunk, version };
        let sweep = Sweep::new(&self.tables, *recipe.goal(), want, sweep_limits);
        let rows = Box::new(|block, take: &mut dyn FnMut(u64, Option<&Board>, &Row)| {
            self.solve_block(recipe, &sweep, block, &mut |index, board, row| take(index, Some(board), row))
        });
        self.write_rows(&RowSource { columns: columns_of(&spec), block: block_of(chunk), spec, rows }, output)
    }

    /// Writes the rows of an input, whose number is not known before its end, into one file.
    fn write_input(
        &self,
        input: &RowInput,
        want: Want,
        limits: RequestedLimits,
        output: &ParquetOutput,
    ) -> Result<TaskEnd, BatchError> {
        let mut open = input.open()?;
        let size = open.first_goal()?.size();
        let columns = ParquetColumns { has_ids: true, has_problems: true, ..parquet_columns(size, want, limits) };
        let (limits, is_strict) = (self.sweep_limits(limits), input.is_strict);
        let labeller = Labeller { session: self, want, limits, lines: RowLines::Ndjson, size: Some(size), is_strict };
        self.shown(|| {
            self.write_to(output, |path, writer| {
                let error = |source| BatchError::File { path: path.to_owned(), source };
                let metadata = [("taquin.version", env!("CARGO_PKG_VERSION"))];
                let mut file = ParquetFile::create(writer, columns, &metadata).map_err(error)?;
                let mut first = 0;
                let work = |block: &LineBlock, reader: &RowReader| input_rows(&labeller, columns, block, reader);
                let end = self.blocks(open, work, |(mut rows, fault): (ParquetRows, Option<(u64, String)>)| {
                    rows.number_from(first);
                    first += rows.len() as u64;
                    file.write(&rows).map_err(error)?;
                    fault.map_or(Ok(()), |fault| Err(input.faulty_row(fault).into()))
                })?;
                if end != TaskEnd::Cancelled {
                    file.finish().map_err(error)?;
                }
                Ok(end)
            })
        })
    }

    fn write_job(&self, directory: &Path, output: &ParquetOutput) -> Result<TaskEnd, BatchError> {
        /// So many rows take a few megabytes, and a part is decoded at most 16 times.
        const BLOCK_ROWS: u64 = 1 << 16;
        let job = self.open_complete(directory)?;
        let spec = job.spec().clone();
        let rows = Box::new(|block: Range<u64>, row: &mut dyn FnMut(u64, Option<&Board>, &Row)| {
            let chunk = u64::from(job.spec().chunk);
            (block.start / chunk..block.end.div_ceil(chunk))
                .try_for_each(|chunk| self.read_chunk(&job, chunk, &block, row))
        });
        self.write_rows(&RowSource { columns: columns_of(&spec), block: BLOCK_ROWS, spec, rows }, output)
    }

    fn write_rows(&self, source: &RowSource<'_>, output: &ParquetOutput) -> Result<TaskEnd, BatchError> {
        let count = source.spec.boards.count();
        self.progress.total.store(count, Ordering::Relaxed);
        self.shown(|| {
            let end = |is_whole| if is_whole { self.end() } else { TaskEnd::Cancelled };
            if let ParquetOutput::Directory(path) = output {
                return self.write_data_set(source, path).map(end);
            }
            let mut totals = Totals::default();
            let written = self.write_to(output, |path, writer| {
                self.write_file(source, path, writer, 0..count, &mut totals).map(end)
            })?;
            if let (ParquetOutput::File(path), true) = (output, written != TaskEnd::Cancelled) {
                put_card_beside(path, &source.spec, &totals)?;
            }
            Ok(written)
        })
    }

    /// Writes one file, which gets its name when it is whole.
    fn write_to(
        &self,
        output: &ParquetOutput,
        write: impl FnOnce(&Path, &mut (dyn Write + Send)) -> Result<TaskEnd, BatchError>,
    ) -> Result<TaskEnd, BatchError> {
        let ParquetOutput::File(path) = output else {
            return write(Path::new("standard output"), &mut io::stdout());
        };
        let error = |source| BatchError::File { path: path.clone(), source };
        let mut file = NewFile::begin(path.clone()).map_err(error)?;
        let end = write(path, &mut file)?;
        if end != TaskEnd::Cancelled {
            file.replace().map_err(error)?;
        }
        Ok(end)
    }

    /// Writes the files of a data set, and its card at the end. Returns false if it was cancelled.
    fn write_data_set(&self, source: &RowSource<'_>, path: &Path) -> Result<bool, BatchError> {
        let error = |name: &str, source| BatchError::File { path: path.join(name), source };
        let directory = Directory::create(path).map_err(|source| error("", source))?;
        let mut totals = Totals::default();
        for data_file in data_files(source.spec.boards.count()) {
            let name = &data_file.name;
            let mut file = directory.begin(name).map_err(|source| error(name, source))?;
            if !self.write_file(source, &path.join(name), &mut file, data_file.rows, &mut totals)? {
                return Ok(false);
            }
            existing_is_error(file.create()).map_err(|source| error(name, source))?;
        }
        let card = data_set_card(&source.spec, &totals, "data-*.parquet");
        existing_is_error(directory.put(CARD, card.as_bytes())).map_err(|source| error(CARD, source))?;
        say(format_args!("{} is a data set, which {CARD} describes", path.display()));
        Ok(true)
    }

    /// Writes a file of these rows, which are counted. Returns false if it was cancelled.
    fn write_file(
        &self,
        source: &RowSource<'_>,
        path: &Path,
        writer: impl Write + Send,
        rows: Range<u64>,
        totals: &mut Totals,
    ) -> Result<bool, BatchError> {
        let error = |source| BatchError::File { path: path.to_owned(), source };
        let (version, spec) = (&source.spec.version, description(&source.spec));
        let metadata = [("taquin.version", version.as_str()), ("taquin.spec", spec.as_str())];
        let mut file = ParquetFile::create(writer, source.columns, &metadata).map_err(error)?;
        let starts = (rows.start..rows.end).step_by(source.block as usize);
        let blocks = starts.map(|start| start..(start + source.block).min(rows.end));
        let blocks = blocks.take_while(|_| !self.is_cancelled());
        let end = map_in_order(
            self.threads,
            blocks,
            |block| source.block(block),
            |block| {
                let (rows, counts) = block?;
                totals.add(&counts);
                file.write(&rows).map_err(|source| LinesEnd::Failed(error(source)))
            },
        );
        match end {
            Err(LinesEnd::Failed(error)) => Err(error),
            Err(LinesEnd::Cancelled) => Ok(false),
            Ok(()) if self.is_cancelled() => Ok(false),
            Ok(()) => file.finish().map_err(error).map(|()| true),
        }
    }
}

impl RowSource<'_> {
    fn block(&self, rows: Range<u64>) -> Result<Block, LinesEnd> {
        let (mut block, mut totals) = (ParquetRows::new(self.columns), Totals::default());
        (self.rows)(rows, &mut |index, board, row| {
            totals.count(row);
            let label = if let Row::Solved(label) = row { Some(label) } else { None };
            let problem = problem_of(row);
            block.push(&ParquetRow { index, id: None, board, label, problem: problem.as_deref() });
        })?;
        Ok((block, totals))
    }
}

/// The rows of a block of an input, and the faulty row at which a strict one ends.
fn input_rows(
    labeller: &Labeller<'_>,
    columns: ParquetColumns,
    block: &LineBlock,
    reader: &RowReader,
) -> Result<(ParquetRows, Option<(u64, String)>), Early> {
    let mut rows = ParquetRows::new(columns);
    let fault = labeller.each(block, reader, &mut |_, id, row| {
        // An id that is a string is written without its quotes.
        let id = id.map(|id| serde_json::from_slice(id).unwrap_or_else(|_| String::from_utf8_lossy(id).into_owned()));
        let solved = row.as_ref().ok();
        let problem = row.as_ref().err().and_then(|problem| serde_json::to_string(&**problem).ok());
        rows.push(&ParquetRow {
            index: 0,
            id: id.as_deref(),
            board: solved.map(|(puzzle, _): &(Puzzle, _)| puzzle.start()),
            label: solved.map(|(_, label)| label),
            problem: problem.as_deref(),
        });
    })?;
    Ok((rows, fault))
}

fn parquet_columns(size: Size, want: Want, limits: RequestedLimits) -> ParquetColumns {
    let has_bound = LabelLines::columns(size, want, limits).has_bound;
    ParquetColumns { size, want, has_ids: false, has_problems: false, has_bound }
}

/// The columns of the labels of a recipe or of a job.
fn columns_of(spec: &JobSpec) -> ParquetColumns {
    let has_problems = matches!(spec.boards, JobBoards::Input(_));
    ParquetColumns { has_problems, ..parquet_columns(spec.boards.goal().size(), spec.want, spec.limits) }
}

/// Writes the card of a single file beside it, unless there is another document of that name.
fn put_card_beside(path: &Path, spec: &JobSpec, totals: &Totals) -> Result<(), BatchError> {
    let card = path.with_file_name(CARD);
    let error = |source| BatchError::File { path: card.clone(), source };
    let mut file = NewFile::begin(card.clone()).map_err(error)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let text = data_set_card(spec, totals, &serde_json::Value::from(name).to_string());
    file.write_all(text.as_bytes()).map_err(error)?;
    match file.create().map_err(error)? {
        Created::New => say(format_args!("{} describes the file", card.display())),
        Created::Existed => say(format_args!("{} exists and is kept; it does not describe the file", card.display())),
    }
    Ok(())
}

/// The description of a job as JSON, without the size of its chunks, on which no row depends.
fn description(spec: &JobSpec) -> String {
    let mut json: serde_json::Value = serde_json::from_slice(&spec.to_json()).unwrap_or_default();
    if let Some(members) = json.as_object_mut() {
        members.shift_remove("chunk");
    }
    json.to_string()
}

/// Nothing but a file of labels is replaced, and only whole.
fn check_output(output: &ParquetOutput) -> Result<(), BatchError> {
    let refused = |path: &Path, reason: &'static str| {
        let source = io::Error::new(io::ErrorKind::AlreadyExists, reason);
        Err(BatchError::File { path: path.to_owned(), source })
    };
    match output {
        ParquetOutput::File(path) if path.exists() && !path.is_file() => refused(path, "it is not a file"),
        ParquetOutput::Directory(path) if has_data_set(path) => {
            refused(path, "it has a data set: name another directory")
        }
        _ => Ok(()),
    }
}

fn has_data_set(path: &Path) -> bool {
    let is_of_data_set = |path: PathBuf| path.ends_with(CARD) || path.extension().is_some_and(|end| end == "parquet");
    fs::read_dir(path).is_ok_and(|entries| entries.flatten().any(|entry| is_of_data_set(entry.path())))
}

fn existing_is_error(created: io::Result<Created>) -> io::Result<()> {
    match created? {
        Created::New => Ok(()),
        Created::Existed => Err(io::ErrorKind::AlreadyExists.into()),
    }
}
