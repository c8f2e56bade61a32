//! The binary: parses the settings, starts the log and the service, and sets the exit code.

// Invalid settings are reported before there is a log, so `main` alone writes to the console.
#![cfg_attr(not(test), warn(clippy::too_many_lines, clippy::unwrap_used))]

use std::env;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{self, ExitCode};
use std::time::Duration;

use clap::Parser;
use taquin::app::batch;
use taquin::app::cluster::worker;
use taquin::app::{App, Ending};
use taquin::config::{self, Command, Config, Flags, JobsPlace};
use taquin::{healthcheck, telemetry};
use taquin_bulk::command::BatchFlags;

/// Searches allocate and free megabytes at a time, requests dozens of small blocks, on any thread. This allocator
/// keeps the pages for reuse (docs/adr/0012).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const FAILED: u8 = 1;
const MISCONFIGURED: u8 = 2;

fn main() -> ExitCode {
    let flags = Flags::parse();
    match &flags.command {
        Some(Command::Completions { shell }) => return print(Ok(config::completions(*shell))),
        Some(Command::Man) => return print(config::man_page()),
        Some(Command::Healthcheck | Command::Batch(_)) => {}
        _ if flags.check_config => {}
        None | Some(Command::Worker) => restart_with_little_memory(&flags),
    }
    let config = match Config::try_from(&flags) {
        Ok(config) => config,
        Err(errors) => {
            errors.iter().for_each(|error| eprintln!("taquin: {error}"));
            if let Some(Command::Batch(flags)) = &flags.command {
                batch::errors_of(flags).iter().for_each(|error| eprintln!("taquin: {error}"));
            }
            return MISCONFIGURED.into();
        }
    };
    if flags.check_config {
        for name in unknown_variables() {
            eprintln!("taquin: warning: {name} is not a setting and has no effect");
        }
        eprintln!("taquin: the settings are valid\n{}\n{}", config.memory, config.threads);
        return ExitCode::SUCCESS;
    }
    let ending = match &flags.command {
        Some(Command::Batch(flags)) => return run_batch(flags, &config),
        Some(Command::Worker) => serve(&config, Role::Worker),
        Some(_) => healthcheck::check(&config::reachable(config.listen)).map(|()| Ending::Clean).map_err(Into::into),
        None => serve(&config, Role::Service),
    };
    match ending {
        Ok(Ending::Clean) => ExitCode::SUCCESS,
        Ok(Ending::CutShort(signal)) => (128 + signal).into(),
        Err(error) => failed(&*error),
    }
}

fn run_batch(flags: &BatchFlags, config: &Config) -> ExitCode {
    match telemetry::init_for_command() {
        Ok(()) => batch::run(flags, config).into(),
        Err(error) => failed(&*error),
    }
}

fn failed(error: &dyn std::error::Error) -> ExitCode {
    eprintln!("taquin: {error}");
    FAILED.into()
}

/// If there is less than a gigabyte, restarts the process with an allocator that returns freed memory at once and takes
/// no huge pages. Otherwise both take up to 150 MiB (docs/adr/0012). The allocator reads its options before `main`
/// begins. Only flags have been read so far, no files.
fn restart_with_little_memory(flags: &Flags) {
    const LITTLE: u64 = 1 << 30;
    const OPTION: &str = "MIMALLOC_PURGE_DELAY";
    if flags.memory_limit().is_none_or(|bytes| bytes >= LITTLE) || env::var_os(OPTION).is_some() {
        return;
    }
    let Ok(program) = env::current_exe() else { return };
    let mut arguments = env::args_os();
    let mut command = process::Command::new(program);
    arguments.next().into_iter().for_each(|name| {
        command.arg0(name);
    });
    // `exec` returns only on failure; the process then continues with the default options.
    let error = command.args(arguments).env(OPTION, "0").env("MIMALLOC_ALLOW_THP", "0").exec();
    eprintln!("taquin: warning: the allocator keeps its default options: {error}");
}

/// Writes a generated document to standard output.
fn print(document: io::Result<Vec<u8>>) -> ExitCode {
    match document.and_then(|bytes| io::stdout().write_all(&bytes)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

/// Names of environment variables that look like misspelled settings. Their values may be secrets.
fn unknown_variables() -> Vec<String> {
    config::unknown_variables(std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()))
}

/// The task of a process that runs until a signal.
enum Role {
    /// Responds to requests.
    Service,
    /// Makes chunks of jobs.
    Worker,
}

/// The runtime that serves connections. Searches have threads of their own.
fn runtime(config: &Config) -> io::Result<tokio::runtime::Runtime> {
    /// Enough for name resolution, the parsing of large bodies, and files of jobs. None of these waits for a client.
    const BLOCKING: usize = 4;
    /// A shared store may be slow, and must not delay name resolution.
    const WITH_STORE: usize = 64;
    let is_shared = config.jobs.as_ref().is_some_and(|jobs| matches!(jobs.place, JobsPlace::Shared { .. }));
    // A worker labels boards on these threads.
    let blocking = if is_shared { WITH_STORE + 2 * config.service.workers } else { BLOCKING };
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(config.threads.connections).max_blocking_threads(blocking).enable_all().build()
}

fn serve(config: &Config, role: Role) -> Result<Ending, Box<dyn std::error::Error>> {
    let telemetry = telemetry::init(config)?;
    unknown_variables().iter().for_each(|variable| tracing::warn!(variable, "not a setting; it has no effect"));
    let runtime = runtime(config)?;
    let ending = runtime.block_on(async {
        match role {
            Role::Service => App::build(config).await?.run_until_signalled().await,
            Role::Worker => worker::work(config).await,
        }
    })?;
    // Cancelled searches end within one poll interval. A hanging thread must not block the exit.
    runtime.shutdown_timeout(if ending == Ending::Clean { Duration::from_secs(1) } else { Duration::ZERO });
    if ending == Ending::Clean {
        telemetry.finish();
    }
    Ok(ending)
}
