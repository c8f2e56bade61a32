//! The open connections of a listener: the signal that ends them, and their limit by the system's limit of open files.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::sync::watch;

/// Signals all connections to end, and waits for their end.
///
/// hyper-util's `GracefulShutdown` takes connections by value; here a connection outlives its hyper connection
/// (`connection`).
#[derive(Debug)]
pub(crate) struct OpenConnections(watch::Sender<bool>);

impl OpenConnections {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// The signal for a new connection, which counts as open until it drops the signal.
    pub(crate) fn signal(&self) -> EndSignal {
        EndSignal(self.0.subscribe())
    }

    /// Number of open connections.
    pub(crate) fn count(&self) -> usize {
        self.0.receiver_count()
    }

    /// Signals all connections to end, and waits until all have ended.
    pub(crate) async fn end(self) {
        self.0.send_replace(true);
        self.0.closed().await;
    }
}

/// A connection's side of [`OpenConnections`].
#[derive(Debug)]
pub(crate) struct EndSignal(watch::Receiver<bool>);

impl EndSignal {
    /// Waits for the signal to end.
    pub(crate) async fn wait(&mut self) {
        let _ = self.0.wait_for(|is_ending| *is_ending).await;
    }
}

/// Open files besides the main listener's connections: admin connections, listeners, standard streams, table files, and
/// the runtime's own.
const HEADROOM: u64 = 128;

/// Raises the soft limit to the hard limit. Returns the number of connections that fit, at most `connections`.
pub(crate) fn raise_limit(connections: usize) -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: maximum, maximum };
    let limit = if setrlimit(Resource::Nofile, raised).is_ok() { maximum } else { current };
    let fitting = fitting(connections, limit);
    if fitting < connections {
        tracing::warn!(
            open_files = limit,
            max_connections = fitting,
            asked = connections,
            "the limit on open files allows fewer connections than configured: raise it, or lower --max-connections"
        );
    }
    fitting
}

fn fitting(connections: usize, limit: Option<u64>) -> usize {
    let room = limit.map_or(u64::MAX, |limit| limit.saturating_sub(HEADROOM).max(1));
    connections.min(usize::try_from(room).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_fit_into_the_limit() {
        for (connections, limit, expected) in [
            (16_384, None, 16_384),
            (16_384, Some(1 << 20), 16_384),
            (16_384, Some(4096), 3968),
            (100, Some(1024), 100),
            (100, Some(64), 1),
        ] {
            assert_eq!(fitting(connections, limit), expected, "{connections} of {limit:?}");
        }
    }

    #[test]
    fn the_soft_limit_is_raised_to_the_hard_limit() {
        raise_limit(1);
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        assert_eq!(current, maximum);
    }
}
