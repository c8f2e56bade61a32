//! The log: what is written, and how (`docs/LOGGING.md` describes the lines). And traces, in a build
//! that has them: where they go.

mod json_lines;
mod lanes;
mod line_queue;
#[cfg_attr(not(feature = "otel"), path = "telemetry/no_traces.rs")]
mod traces;

use std::backtrace::{Backtrace, BacktraceStatus};
use std::error::Error;
use std::io::IsTerminal;
use std::panic::PanicHookInfo;

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{fmt, registry};

use self::json_lines::JsonLines;
use self::line_queue::{Flush, LineQueue};
use self::traces::Traces;
use crate::config::{Config, LogFormat};

/// What is on its way out of the process. The last lines of the log are written when it goes out of
/// scope, which takes a second at most.
#[derive(Debug)]
pub struct Telemetry {
    traces: Traces,
    _flush: Option<Flush>,
}

/// Starts logging to standard output, for the whole process, and sending traces if they are asked for.
/// Panics are logged as errors.
///
/// # Errors
/// If this process has a subscriber already, or nothing can be sent, or the system has no thread for
/// the log.
pub fn init(config: &Config) -> Result<Telemetry, Box<dyn Error>> {
    let mut flush = None;
    match config.log_format {
        LogFormat::Json => {
            let (queue, rest) = LineQueue::start(std::io::stdout())?;
            flush = Some(rest);
            JsonLines::new(config.log.clone(), queue).try_init()?;
        }
        LogFormat::Pretty => {
            let lines = fmt::layer().with_ansi(std::io::stdout().is_terminal()).compact();
            registry().with(lines).with(config.log.clone()).try_init()?;
        }
    }
    std::panic::set_hook(Box::new(log_panic));
    Ok(Telemetry { traces: Traces::start(config.traces.as_ref())?, _flush: flush })
}

impl Telemetry {
    /// Sends the last traces, and takes a second for it at most.
    pub fn finish(self) {
        self.traces.finish();
    }
}

/// One line for each panic, in the place where it happens; nothing else logs it again.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let backtrace = Backtrace::capture();
    let has_backtrace = backtrace.status() == BacktraceStatus::Captured;
    tracing::event!(
        target: "taquin::panic",
        tracing::Level::ERROR,
        panic.message = panic.payload_as_str().unwrap_or("(no message)"),
        panic.location = panic.location().map(tracing::field::display),
        panic.backtrace = has_backtrace.then(|| tracing::field::display(&backtrace)),
        "panicked"
    );
}
