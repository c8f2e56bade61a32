//! SIGTERM and SIGINT.

use std::future::Future;
use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

/// The signals that start a clean shutdown.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub(crate) fn install() -> io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for a signal and returns its number.
    pub(crate) async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.terminate.recv() => 15,
            _ = self.interrupt.recv() => 2,
        }
    }
}

/// Ending of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// By itself, after at most one signal.
    Clean,
    /// A second signal, of this number, cut the shutdown short.
    CutShort(u8),
}

/// Runs a service until SIGTERM or SIGINT, which sends a message to its receiver. A second signal ends the run at once.
/// Fails if the signal handlers cannot be installed.
pub(crate) async fn until_signalled<R: Future<Output = ()>>(
    run: impl FnOnce(oneshot::Receiver<()>) -> R,
) -> io::Result<Ending> {
    let mut signals = Signals::install()?;
    let (stop, stopped) = oneshot::channel();
    let twice = async {
        let first = signals.next().await;
        tracing::info!(signal = first, "shutting down");
        let _ = stop.send(());
        signals.next().await
    };
    tokio::select! {
        biased;
        () = run(stopped) => Ok(Ending::Clean),
        second = twice => {
            tracing::warn!(signal = second, "shutdown cut short");
            Ok(Ending::CutShort(second))
        }
    }
}
