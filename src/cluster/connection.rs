//! What is known of the connection to the servers of a queue.

use async_nats::Event;
use parking_lot::Mutex;
use tokio::sync::watch;

/// Connections so far, and why there is none.
#[derive(Debug, Default)]
pub(super) struct Connection {
    count: watch::Sender<u64>,
    /// Why there is none, once one has ended or could not be made.
    trouble: Mutex<Option<String>>,
}

impl Connection {
    /// Notes an event of the client.
    pub(super) fn note(&self, event: &Event) {
        match event {
            Event::Connected => {
                *self.trouble.lock() = None;
                self.count.send_modify(|count| *count += 1);
            }
            Event::Disconnected => drop(self.trouble.lock().get_or_insert_with(|| "disconnected".to_owned())),
            Event::ServerError(error) => *self.trouble.lock() = Some(error.to_string()),
            Event::ClientError(error) => *self.trouble.lock() = Some(error.to_string()),
            _ => {}
        }
        tracing::debug!(target: "taquin::queue", %event, "connection to the queue");
    }

    /// Number of connections so far.
    pub(super) fn count(&self) -> watch::Receiver<u64> {
        self.count.subscribe()
    }

    /// The last error, or that the connection has ended; `None` after a connection that had no error since.
    pub(super) fn trouble(&self) -> Option<String> {
        self.trouble.lock().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_a_lost_connection_is_kept_until_there_is_another() {
        let connection = Connection::default();
        assert_eq!((connection.trouble(), *connection.count().borrow()), (None, 0));
        connection.note(&Event::Disconnected);
        assert_eq!(connection.trouble().as_deref(), Some("disconnected"));
        connection.note(&Event::ServerError(async_nats::ServerError::AuthorizationViolation));
        connection.note(&Event::Disconnected);
        assert_eq!(connection.trouble().as_deref(), Some("nats: authorization violation"));
        connection.note(&Event::Connected);
        assert_eq!((connection.trouble(), *connection.count().borrow()), (None, 1));
    }
}
