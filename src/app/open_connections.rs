//! The open connections of a listener, and the signal that ends them.

use tokio::sync::watch;

/// Sends the signal to end to all connections and waits for their end.
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

    /// Tells all connections to end, and waits until all have.
    pub(crate) async fn end(self) {
        self.0.send_replace(true);
        self.0.closed().await;
    }
}

/// A connection's side of [`OpenConnections`].
#[derive(Debug)]
pub(crate) struct EndSignal(watch::Receiver<bool>);

impl EndSignal {
    /// Waits until the connection is to end.
    pub(crate) async fn wait(&mut self) {
        let _ = self.0.wait_for(|is_ending| *is_ending).await;
    }
}
