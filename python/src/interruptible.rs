//! Work without the GIL that Ctrl+C ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::{Builder, scope};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Time between two checks for signals.
const POLL: Duration = Duration::from_millis(50);

/// Runs `work` on a thread of its own without the GIL, and returns the result. From time to time calls `tick` with the
/// GIL. `work` must end soon after its flag is set. The flag is set if a signal handler raises, or `tick` fails.
///
/// # Errors
/// The error of the signal handler or of `tick`, after the end of `work`. `RuntimeError` if there is no thread.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
    mut tick: impl FnMut(Python<'_>) -> PyResult<()> + Send,
) -> PyResult<T> {
    let cancel = &AtomicBool::new(false);
    let run = || {
        scope(|scope| {
            let (done, result) = sync_channel(1);
            // The receiver waits for the result, so sending succeeds.
            Builder::new().spawn_scoped(scope, move || drop(done.send(work(cancel))))?;
            let mut interruption = None;
            loop {
                match result.recv_timeout(POLL) {
                    Ok(result) => return interruption.map_or(Ok(result), Err),
                    Err(RecvTimeoutError::Timeout) if interruption.is_none() => {
                        interruption = Python::attach(|py| py.check_signals().and_then(|()| tick(py))).err();
                        cancel.store(interruption.is_some(), Ordering::Relaxed);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return Err(PyRuntimeError::new_err("the search panicked")),
                }
            }
        })
    };
    py.detach(run)
}
