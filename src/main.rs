//! The binary: settings, log, service, exit code.

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use taquin::app::{App, Ending};
use taquin::config::{self, Command, Config, Flags};
use taquin::{healthcheck, telemetry};

/// Searches take and give back megabytes at a time, requests some dozens of small blocks, on any
/// thread: this allocator keeps the pages at hand for both (docs/adr/0011).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const FAILED: u8 = 1;
const MISCONFIGURED: u8 = 2;

fn main() -> ExitCode {
    let flags = Flags::parse();
    let config = match Config::try_from(&flags) {
        Ok(config) => config,
        Err(faults) => {
            faults.iter().for_each(|fault| eprintln!("taquin: {fault}"));
            return MISCONFIGURED.into();
        }
    };
    if flags.check_config {
        strays().iter().for_each(|name| eprintln!("taquin: {name} is set, but there is no such setting"));
        eprintln!("taquin: the settings are sound\n{}", config.memory);
        return ExitCode::SUCCESS;
    }
    let ending = match flags.command {
        Some(Command::Healthcheck) => healthcheck::check(config.listen).map(|()| Ending::Clean).map_err(Into::into),
        None => serve(&config),
    };
    match ending {
        Ok(Ending::Clean) => ExitCode::SUCCESS,
        Ok(Ending::CutShort(signal)) => (128 + signal).into(),
        Err(error) => {
            eprintln!("taquin: {error}");
            FAILED.into()
        }
    }
}

/// Variables of the environment that are perhaps misspelt settings; their values may be secrets.
fn strays() -> Vec<String> {
    config::strays(std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()))
}

fn serve(config: &Config) -> Result<Ending, Box<dyn std::error::Error>> {
    let telemetry = telemetry::init(config)?;
    strays().iter().for_each(|variable| tracing::warn!(variable, "there is no such setting"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ending = runtime.block_on(async { App::build(config).await?.run_until_signalled().await })?;
    // Cancelled searches end within a poll interval; a thread that hangs must not hold the process.
    runtime.shutdown_timeout(if ending == Ending::Clean { Duration::from_secs(1) } else { Duration::ZERO });
    if ending == Ending::Clean {
        telemetry.finish();
    }
    Ok(ending)
}
