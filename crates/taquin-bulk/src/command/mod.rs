//! The command `taquin batch`: labels many boards without the service.
//!
//! The process that has the command passes its tables, threads and memory as a [`Session`], and cancels a batch by a
//! flag. It needs neither a runtime nor a signal handler of this crate.

mod arguments;
mod console;
mod destination;
mod ending;
mod export;
mod flags;
mod hashed_file;
mod input;
mod line_output;
mod own_input;
#[cfg_attr(not(feature = "parquet"), path = "no_parquet.rs")]
mod parquet;
mod rows;
mod run_identity;
mod store;
mod unfinished;
mod unfinished_folder;
mod values;

use std::env;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use taquin_solver::Board;
use taquin_solver::heuristic::Tier;

use self::arguments::{Boards, ParquetOutput, Source, Task};
use self::console::{ProgressDisplay, say};
use self::destination::Destination;
pub use self::ending::{BatchEnding, BatchError};
pub use self::flags::BatchFlags;
use self::line_output::file_output;
use self::unfinished::Unfinished;
pub use self::values::{parse_duration, with_unit};
use crate::{LabelControl, LabelLimits, OutputLock, Progress, RequestedLimits, Resources, Want};

/// Resources and progress of a batch.
pub struct Session<'a> {
    resources: Resources<'a>,
    /// Strongest tables that `load_tables` loads.
    tier: Tier,
    /// Loads the tables for labels of a goal.
    load_tables: &'a (dyn Fn(&Board, Want) + Sync),
    /// Version of the program, in descriptions of jobs and files.
    version: &'static str,
    progress: Progress,
}

/// A batch with valid flags, whose output is locked.
pub struct Batch {
    task: Task,
    _output: Option<OutputLock>,
}

/// All errors of the flags of a batch, one line each.
pub fn errors_of(flags: &BatchFlags) -> Vec<String> {
    Task::of(flags).err().unwrap_or_default()
}

/// Runs a batch by `execute`, and returns the exit code. Messages and progress go to the standard error.
///
/// `execute` calls [`Batch::run`], and returns the ending with the number of the signal that cancelled the batch, or 0.
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

    /// Runs the batch to its end, or until the session is cancelled.
    ///
    /// # Errors
    /// See [`BatchError`]. Finished work remains.
    pub fn run(self, session: &Session<'_>) -> Result<BatchEnding, BatchError> {
        session.run(self.task)
    }
}

impl<'a> Session<'a> {
    /// Creates a session. `load_tables` loads the tables for labels of a goal, up to those of `tier`; `version` is the
    /// version of the program.
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
            Task::Solve(Boards { source: Source::Recipe(recipe), want, limits }, output) => {
                let rows = self.recipe_rows(&recipe, want, limits);
                let run = self.identity_of_recipe(&recipe, (want, limits), output.format);
                self.write_lines(&rows, run, &output)
            }
            Task::Solve(Boards { source: Source::Rows(input), want, limits }, output) => {
                self.solve_rows(&input, want, limits, &output)
            }
            Task::Store { boards: Boards { source, want, limits }, directory, shard, chunk } => {
                self.store(&source, (want, limits), &directory, (shard, chunk))
            }
            Task::Export(directory, output) => {
                let job = self.open_complete(&directory)?;
                let run = self.identity_of_job(&job, output.format);
                self.write_lines(&self.job_rows(&job), run, &output)
            }
            Task::Parquet(source, output) => self.write_parquet(&source, &output),
            Task::Verify(directory, sample) => self.verify(&directory, sample),
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

    /// Runs `work` and shows the progress, then a summary.
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

    fn end(&self) -> BatchEnding {
        let has_failed = self.progress.failed.load(Ordering::Relaxed) > 0;
        if has_failed { BatchEnding::RowsFailed } else { BatchEnding::Clean }
    }
}

/// How to resume an interrupted task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Resumption {
    /// With the same command.
    SameCommand,
    /// With the flag `--resume` added.
    WithResume,
}

impl Task {
    /// Locks the store that contains the output, if any. Fails if a running service uses the store, and prevents a
    /// service from starting there.
    ///
    /// # Errors
    /// The path of the store in use.
    fn lock_output(&self) -> Result<Option<OutputLock>, PathBuf> {
        let of_file = |destination: &Destination| match destination {
            Destination::File(path) => Some(OutputLock::of_file(path)),
            Destination::Standard | Destination::Stream(_) => None,
        };
        match self {
            Self::Solve(_, output) | Self::Export(_, output) => of_file(&output.destination),
            Self::Parquet(_, ParquetOutput::One { destination, .. }) => of_file(destination),
            Self::Store { directory: path, .. } | Self::Parquet(_, ParquetOutput::Directory(path)) => {
                Some(OutputLock::of_directory(path))
            }
            Self::Verify(..) => None,
        }
        .transpose()
    }

    /// Rejects outputs that would be lost, before any search.
    ///
    /// # Errors
    /// See [`Unfinished::check`].
    fn check_existing(&self) -> Result<(), BatchError> {
        match self {
            Self::Solve(_, output) | Self::Export(_, output) => match &output.destination {
                Destination::File(path) => Unfinished::check(&file_output(output, path)),
                Destination::Standard | Destination::Stream(_) => Ok(()),
            },
            Self::Parquet(_, output) => output.check_existing(),
            Self::Store { .. } | Self::Verify(..) => Ok(()),
        }
    }

    fn resumption(&self) -> Option<Resumption> {
        match self {
            Self::Store { .. } => Some(Resumption::SameCommand),
            Self::Solve(_, output) | Self::Export(_, output) => match output.destination {
                Destination::File(_) if output.existing.resumes => Some(Resumption::SameCommand),
                Destination::File(_) => Some(Resumption::WithResume),
                _ => None,
            },
            Self::Parquet(..) | Self::Verify(..) => None,
        }
    }
}

impl Resumption {
    /// The command line that resumes the task, quoted for a shell.
    fn command_line(self, arguments: impl Iterator<Item = String>) -> String {
        let mut words: Vec<String> = arguments.collect();
        if self == Self::WithResume {
            // Flags must precede `--`.
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
