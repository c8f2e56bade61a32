//! `taquin batch`: labels many boards without the service.

mod arguments;
mod console;
mod destination;
mod ending;
mod export;
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
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use taquin_bulk::{LabelControl, LabelLimits, OutputLock, Progress, RequestedLimits, Resources, Want};
use taquin_solver::Board;
use taquin_solver::heuristic::Tier;
use tokio::runtime;
use tokio::sync::oneshot;

use self::arguments::{Boards, ParquetOutput, Source, Task};
use self::console::{ProgressDisplay, say};
use self::destination::Destination;
pub use self::ending::{BatchEnding, BatchError};
use self::line_output::file_output;
use self::unfinished::Unfinished;
use super::signals::Signals;
use crate::config::{BatchFlags, Config};
use crate::service::{Metrics, Tables};

/// The signal that ends programs whose output pipe is closed.
const SIGPIPE: u8 = 13;

/// Resources of a task.
#[derive(Debug)]
struct Session {
    tables: Tables,
    tier: Tier,
    threads: usize,
    search_memory: u64,
    cancel: AtomicBool,
    metrics: Metrics,
    progress: Progress,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TaskEnd {
    Clean,
    RowsFailed,
    Cancelled,
}

/// All errors of the flags of a batch, one line each.
pub fn errors_of(flags: &BatchFlags) -> Vec<String> {
    Task::of(flags).err().unwrap_or_default()
}

/// Runs a batch. Messages and progress go to the standard error.
///
/// # Errors
/// See [`BatchError`]. Finished work remains.
pub fn run(flags: &BatchFlags, config: &Config) -> Result<BatchEnding, BatchError> {
    let task = Task::of(flags).map_err(BatchError::Arguments)?;
    task.check_output().map_err(|message| BatchError::Arguments(vec![message]))?;
    let _output = task.lock_output().map_err(BatchError::StoreInUse)?;
    task.check_existing()?;
    let session = Arc::new(Session {
        tables: Tables::new(config.memory.tables + config.memory.base, config.service.table_cache.clone()),
        tier: config.service.tables,
        threads: config.service.workers,
        search_memory: config.service.search_memory,
        cancel: AtomicBool::new(false),
        metrics: Metrics::default(),
        progress: Progress::default(),
    });
    let resumption = task.resumption();
    let ending = match until_signalled(&session, task) {
        // The reader of the standard output has closed the pipe.
        Err(BatchError::File { source, .. }) if source.kind() == io::ErrorKind::BrokenPipe => {
            return Ok(BatchEnding::Signalled(SIGPIPE));
        }
        ending => ending,
    };
    let condition = match &ending {
        Ok(BatchEnding::Signalled(_)) => Some(""),
        Err(BatchError::FaultyRow { .. }) => Some(", once the row is mended"),
        Err(BatchError::Job(error)) if error.is_disk_full() => Some(", once there is room"),
        Err(BatchError::File { source, .. }) if source.kind() == io::ErrorKind::StorageFull => {
            Some(", once there is room")
        }
        _ => None,
    };
    if let (Some(resumption), Some(condition)) = (resumption, condition) {
        say(format_args!("to go on{condition}: {}", resumption.command_line(env::args())));
    }
    ending
}

/// Runs a task on a thread. A signal cancels the task and waits for its end; a second signal does not wait.
fn until_signalled(session: &Arc<Session>, task: Task) -> Result<BatchEnding, BatchError> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(BatchError::Start)?;
    let own = Arc::clone(session);
    let (done, mut ended) = oneshot::channel();
    runtime.block_on(async {
        let mut signals = Signals::install().map_err(BatchError::Start)?;
        let work = move || drop(done.send(own.run(task)));
        thread::Builder::new().spawn(work).map_err(BatchError::Start)?;
        let signal = tokio::select! {
            end = &mut ended => return end.expect("the task does not panic").map(|end| end.ending(0)),
            signal = signals.next() => signal,
        };
        session.cancel.store(true, Ordering::Relaxed);
        tokio::select! {
            end = ended => end.expect("the task does not panic").map(|end| end.ending(signal)),
            signal = signals.next() => Ok(BatchEnding::Signalled(signal)),
        }
    })
}

impl TaskEnd {
    fn ending(self, signal: u8) -> BatchEnding {
        match self {
            Self::Clean => BatchEnding::Clean,
            Self::RowsFailed => BatchEnding::RowsFailed,
            Self::Cancelled => BatchEnding::Signalled(signal),
        }
    }
}

impl Session {
    fn run(&self, task: Task) -> Result<TaskEnd, BatchError> {
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

    fn resources(&self) -> Resources<'_> {
        let Self { tables, threads, search_memory, cancel, metrics, .. } = self;
        Resources { tables, threads: *threads, search_memory: *search_memory, cancel, failures: metrics }
    }

    fn control<'c>(&'c self, cancel: &'c [&'c AtomicBool]) -> LabelControl<'c> {
        LabelControl { cancel, helpers: None, failures: Some(&self.metrics) }
    }

    fn label_limits(&self, requested: RequestedLimits) -> LabelLimits {
        LabelLimits::of(requested, self.search_memory)
    }

    fn load_tables(&self, goal: &Board, want: Want) {
        self.tables.load_for(goal, want, self.tier);
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
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

    fn end(&self) -> TaskEnd {
        let has_failed = self.progress.failed.load(Ordering::Relaxed) > 0;
        if has_failed { TaskEnd::RowsFailed } else { TaskEnd::Clean }
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
