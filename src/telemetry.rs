//! The log, described in `docs/LOGGING.md`, and the export of traces in builds with the feature `otel`.

mod json_lines;
mod line_queue;
#[cfg(feature = "otel")]
mod traces;

use std::backtrace::{Backtrace, BacktraceStatus};
use std::error::Error;
use std::io::IsTerminal;
use std::panic::PanicHookInfo;

use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{fmt, registry};

use self::json_lines::JsonLines;
use self::line_queue::{Flush, LineQueue};
#[cfg(feature = "otel")]
use self::traces::Traces;
#[cfg(not(feature = "otel"))]
use crate::config::TraceConfig;
use crate::config::{Config, LogFormat};

/// The running log and trace export. Dropping it writes the last log lines, in at most a second.
#[derive(Debug)]
pub struct Telemetry {
    traces: Traces,
    _flush: Flush,
}

/// Starts the log on standard output and, if configured, the export of traces, for the whole process. Panics are logged
/// as errors.
///
/// The filter applies to all layers. A further layer that needs other events, such as a console, needs its own filter;
/// then the log layer does too.
///
/// # Errors
/// If the process already has a subscriber, the trace exporter cannot be built, or the log thread cannot be started.
pub fn init(config: &Config) -> Result<Telemetry, Box<dyn Error>> {
    let (queue, flush) = LineQueue::start(std::io::stdout())?;
    match config.log_format {
        LogFormat::Json => registry().with(config.log.clone()).with(JsonLines(queue)).try_init()?,
        LogFormat::Pretty => {
            let lines = fmt::layer().with_ansi(std::io::stdout().is_terminal()).with_writer(queue).compact();
            registry().with(config.log.clone()).with(lines).try_init()?;
        }
    }
    std::panic::set_hook(Box::new(log_panic));
    Ok(Telemetry { traces: Traces::start(config.traces.as_ref())?, _flush: flush })
}

/// Starts the log of a command: warnings and errors on standard error.
///
/// # Errors
/// If the process already has a subscriber.
pub fn init_for_command() -> Result<(), Box<dyn Error>> {
    let is_terminal = std::io::stderr().is_terminal();
    let lines = fmt::layer().with_ansi(is_terminal).with_writer(std::io::stderr).without_time().compact();
    Ok(registry().with(LevelFilter::WARN).with(lines).try_init()?)
}

impl Telemetry {
    /// Sends the last traces, in at most a second.
    pub fn finish(self) {
        self.traces.finish();
    }
}

/// Logs a panic at its origin. Nothing else logs it again.
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

/// Stands in for the export of traces in builds without the feature `otel`.
#[cfg(not(feature = "otel"))]
#[derive(Debug)]
struct Traces;

#[cfg(not(feature = "otel"))]
impl Traces {
    #[expect(clippy::unnecessary_wraps, reason = "with traces it can fail")]
    fn start(_: Option<&TraceConfig>) -> Result<Self, Box<dyn Error>> {
        Ok(Self)
    }

    fn finish(self) {}
}
