//! The command `taquin batch`. The command labels many boards without the service.
//!
//! The program passes its tables, threads and memory as a [`Session`], and cancels a batch by a flag. This module uses
//! no async runtime, and installs no signal handler.

mod arguments;
mod checked_file;
mod console;
mod destination;
mod ending;
mod export;
mod flags;
mod input;
mod line_output;
mod own_input;
#[cfg(feature = "parquet")]
mod parquet;
mod rows;
mod run_identity;
mod store;
mod text_reader;
mod unfinished;
mod unfinished_folder;
mod values;

use std::env;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use taquin_solver::Board;
use taquin_solver::heuristic::Tier;

use self::arguments::{Boards, Labels, Source, Task};
use self::console::{ProgressDisplay, say};
use self::destination::{Destination, Output};
pub use self::ending::{BatchEnding, BatchError};
pub use self::flags::BatchFlags;
use self::unfinished::Unfinished;
use self::values::Format;
pub use self::values::{parse_duration, with_unit};
use crate::{
    JobError, LabelControl, LabelLimits, OutputLock, Progress, RequestedLimits, Resources, Want, map_in_order,
};

/// Resources and progress of a batch.
pub struct Session<'a> {
    resources: Resources<'a>,
    /// Strongest tier of tables that `load_tables` loads.
    tier: Tier,
    /// Function that loads the tables for a goal and a kind of labels.
    load_tables: &'a (dyn Fn(&Board, Want) + Sync),
    /// Version of the program, for the descriptions of jobs and files.
    version: &'static str,
    progress: Progress,
}

/// A batch with valid flags and a locked output.
pub struct Batch {
    task: Task,
    _output: Option<OutputLock>,
}

/// The reason why the work ended before all rows were processed.
enum EarlyEnd {
    Cancelled,
    Failed(BatchError),
}

impl From<BatchError> for EarlyEnd {
    fn from(error: BatchError) -> Self {
        Self::Failed(error)
    }
}

impl From<JobError> for EarlyEnd {
    fn from(error: JobError) -> Self {
        Self::Failed(error.into())
    }
}

/// Returns all errors in the flags of a batch. Each error is one line. The result is empty for valid flags.
pub fn errors_of(flags: &BatchFlags) -> Vec<String> {
    Task::of(flags).err().unwrap_or_default()
}

/// Runs a batch through `execute`, and returns the exit code. Messages and progress are written to the standard error.
/// If the flags are invalid or the output is rejected, prints the errors, and does not call `execute`.
///
/// `execute` must call [`Batch::run`], and must return the ending of the batch and a number. The number is the number
/// of the signal that cancelled the batch, or 0 if there was no signal.
pub fn run(flags: &BatchFlags, execute: impl FnOnce(Batch) -> Result<(BatchEnding, u8), BatchError>) -> u8 {
    let batch = match Batch::prepare(flags) {
        Ok(batch) => batch,
        Err(error) => return error.report(),
    };
    let resumption = batch.task.resumption();
    let ending = execute(batch);
    let condition = match &ending {
        Ok((BatchEnding::Cancelled, _)) => Some(""),
        Err(BatchError::FaultyRow { .. }) => Some(", once the row is mended"),
        Err(error) if error.is_disk_full() => Some(", once there is room"),
        _ => None,
    };
    if let (Some(resumption), Some(condition)) = (resumption, condition) {
        say(format_args!("to go on{condition}: {}", resumption.command_line(env::args())));
    }
    match ending {
        Ok((ending, signal)) => ending.exit_code(signal),
        Err(error) => error.report(),
    }
}

impl Batch {
    fn prepare(flags: &BatchFlags) -> Result<Self, BatchError> {
        let task = Task::of(flags).map_err(BatchError::Arguments)?;
        task.check_output().map_err(|message| BatchError::Arguments(vec![message]))?;
        let output = task.lock_output().map_err(BatchError::StoreInUse)?;
        task.check_existing()?;
        Ok(Self { task, _output: output })
    }

    /// Runs the batch until the batch ends or the session is cancelled.
    ///
    /// # Errors
    /// See [`BatchError`]. After an error, the finished parts of a job, the finished files of a data set, and the rows
    /// of a text file are kept. The rows of an unfinished Parquet file are lost.
    pub fn run(self, session: &Session<'_>) -> Result<BatchEnding, BatchError> {
        session.run(self.task)
    }
}

impl<'a> Session<'a> {
    /// Creates a session. `load_tables` loads the tables for a goal and a kind of labels. `tier` is the strongest tier
    /// that `load_tables` loads. `version` is the version of the program.
    pub fn new(
        resources: Resources<'a>,
        tier: Tier,
        load_tables: &'a (dyn Fn(&Board, Want) + Sync),
        version: &'static str,
    ) -> Self {
        Self { resources, tier, load_tables, version, progress: Progress::default() }
    }

    fn run(&self, task: Task) -> Result<BatchEnding, BatchError> {
        match task {
            Task::Write(_, output) if output.format == Format::Parquet && !cfg!(feature = "parquet") => {
                let reason = "this build has no Parquet: build with `--features parquet`, or use the container image";
                Err(BatchError::Arguments(vec![format!("--format: {reason}")]))
            }
            Task::Write(Labels::Boards(boards), output) => self.write_boards(&boards, &output),
            Task::Write(Labels::Job(directory), output) => {
                let job = self.open_complete(&directory)?;
                self.write_indexed(&self.job_rows(&job), self.identity_of_job(&job, output.format), &output)
            }
            Task::Store { boards, directory, shard, chunk } => self.store(&boards, &directory, (shard, chunk)),
            Task::Verify(directory, sample) => self.verify(&directory, sample),
        }
    }

    fn write_boards(&self, boards: &Boards, output: &Output) -> Result<BatchEnding, BatchError> {
        match &boards.source {
            Source::Recipe(recipe) => {
                let rows = self.recipe_rows(recipe, boards.want, boards.limits);
                let run = self.identity_of_recipe(recipe, (boards.want, boards.limits), output.format);
                self.write_indexed(&rows, run, output)
            }
            #[cfg(feature = "parquet")]
            Source::Rows(input) if output.format == Format::Parquet => self.write_input(input, boards, output),
            Source::Rows(input) => self.solve_rows(input, boards, output),
        }
    }

    fn control<'c>(&'c self, cancel: &'c [&'c AtomicBool]) -> LabelControl<'c> {
        LabelControl { cancel, helpers: None, failures: Some(self.resources.failures) }
    }

    fn label_limits(&self, requested: RequestedLimits) -> LabelLimits {
        LabelLimits::of(requested, self.resources.search_memory)
    }

    fn load_tables(&self, goal: &Board, want: Want) {
        (self.load_tables)(goal, want);
    }

    fn is_cancelled(&self) -> bool {
        self.resources.cancel.load(Ordering::Relaxed)
    }

    /// Runs `work`, and shows the progress while `work` runs. If `work` succeeds, prints a summary.
    fn shown<T>(&self, work: impl FnOnce() -> Result<T, BatchError>) -> Result<T, BatchError> {
        let display = ProgressDisplay::start(&self.progress);
        thread::scope(|scope| {
            let stop = display.show(scope);
            let done = work();
            drop(stop);
            done
        })
        .inspect(|_| say(display.summary()))
    }

    /// Calls `work` on the items of `source` on all threads, and calls `sink` on the results in the order of the items.
    /// After a cancellation, takes no further item.
    fn map_in_order<I: Send, T: Send>(
        &self,
        source: impl Iterator<Item = I> + Send,
        work: impl Fn(I) -> Result<T, EarlyEnd> + Sync,
        mut sink: impl FnMut(T) -> Result<(), BatchError>,
    ) -> Result<BatchEnding, BatchError> {
        let source = source.take_while(|_| !self.is_cancelled());
        let sink = |done: Result<T, EarlyEnd>| sink(done?).map_err(EarlyEnd::Failed);
        match map_in_order(self.resources.threads, source, work, sink) {
            Err(EarlyEnd::Failed(error)) => Err(error),
            Err(EarlyEnd::Cancelled) => Ok(BatchEnding::Cancelled),
            Ok(()) if self.is_cancelled() => Ok(BatchEnding::Cancelled),
            Ok(()) => Ok(self.end()),
        }
    }

    /// Returns the ending of work that was not cancelled.
    fn end(&self) -> BatchEnding {
        let has_failed = self.progress.failed.load(Ordering::Relaxed) > 0;
        if has_failed { BatchEnding::RowsFailed } else { BatchEnding::Clean }
    }
}

/// The command that resumes an interrupted task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Resumption {
    /// The same command.
    SameCommand,
    /// The same command with the additional flag `--resume`.
    WithResume,
}

impl Task {
    /// Locks the stores that contain the output, so that no service can open these stores. Returns `None` if the task
    /// writes no regular files.
    ///
    /// # Errors
    /// The path of a store, if a running service uses the store.
    fn lock_output(&self) -> Result<Option<OutputLock>, PathBuf> {
        match self {
            Self::Write(_, Output { destination: Destination::File(path), .. }) => OutputLock::of_file(path).map(Some),
            Self::Write(_, Output { destination: Destination::Directory(path), .. })
            | Self::Store { directory: path, .. } => OutputLock::of_directory(path).map(Some),
            Self::Write(..) | Self::Verify(..) => Ok(None),
        }
    }

    /// Rejects the task if an existing file, an interrupted run or a data set would be lost. This check runs before all
    /// searches.
    ///
    /// # Errors
    /// [`BatchError::File`], as in [`Unfinished::check`].
    fn check_existing(&self) -> Result<(), BatchError> {
        match self {
            #[cfg(feature = "parquet")]
            Self::Write(_, output) if output.format == Format::Parquet => output.check_parquet(),
            #[cfg(not(feature = "parquet"))]
            Self::Write(_, output) if output.format == Format::Parquet => Ok(()),
            Self::Write(_, output) => match &output.destination {
                Destination::File(path) => Unfinished::check(path, output),
                _ => Ok(()),
            },
            Self::Store { .. } | Self::Verify(..) => Ok(()),
        }
    }

    fn resumption(&self) -> Option<Resumption> {
        match self {
            Self::Store { .. } => Some(Resumption::SameCommand),
            Self::Write(_, output) if output.format != Format::Parquet => match output.destination {
                Destination::File(_) if output.existing.resumes => Some(Resumption::SameCommand),
                Destination::File(_) => Some(Resumption::WithResume),
                _ => None,
            },
            Self::Write(..) | Self::Verify(..) => None,
        }
    }
}

impl Resumption {
    /// Returns the command line that resumes the task, quoted for a shell. `arguments` is the command line that started
    /// the interrupted task.
    fn command_line(self, arguments: impl Iterator<Item = String>) -> String {
        let mut words: Vec<String> = arguments.collect();
        if self == Self::WithResume {
            // A flag must come before the argument `--`.
            let flags = words.iter().position(|word| word == "--").unwrap_or(words.len());
            words.insert(flags, "--resume".to_owned());
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        shlex::try_join(words).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resumption_is_quoted_for_a_shell() {
        let arguments = || ["taquin", "batch", "--goal", "1 2/3 0", "-o", "a.csv"].map(str::to_owned).into_iter();
        let same = Resumption::SameCommand.command_line(arguments());
        assert_eq!(same, "taquin batch --goal '1 2/3 0' -o a.csv");
        assert_eq!(Resumption::WithResume.command_line(arguments()), format!("{same} --resume"));
        let arguments = ["taquin", "batch", "-o", "a.csv", "--", "-in.csv"].map(str::to_owned).into_iter();
        let line = Resumption::WithResume.command_line(arguments);
        assert_eq!(line, "taquin batch -o a.csv --resume -- -in.csv");
    }
}
