//! The log: what is written, and how. `docs/LOGGING.md` describes the lines.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::IsTerminal;
use std::panic::PanicHookInfo;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};

use crate::config::{Config, LogFormat};

/// Starts logging to standard output, for the whole process. Panics are logged as errors.
///
/// # Errors
/// If this process has a subscriber already.
pub fn init(config: &Config) -> Result<(), TryInitError> {
    let filter = EnvFilter::new(&config.log);
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(std::io::stdout().is_terminal());
    match config.log_format {
        LogFormat::Json => builder.json().flatten_event(true).with_span_list(false).finish().try_init(),
        LogFormat::Pretty => builder.compact().finish().try_init(),
    }?;
    std::panic::set_hook(Box::new(log_panic));
    Ok(())
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
