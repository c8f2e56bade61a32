//! What is known of the connection to the servers of a queue.

use std::time::{Duration, Instant};

use async_nats::Event;
use parking_lot::Mutex;
use tokio::sync::watch;

/// Connections so far, and why there is none.
#[derive(Debug, Default)]
pub(super) struct Connection {
    count: watch::Sender<u64>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    is_up: bool,
    /// Why there is no connection, once one has ended or could not be made.
    trouble: Option<String>,
    /// The last error during the connection.
    last: Option<(Instant, String)>,
}

/// Time within which a connection ends after the error that ends it. Most errors end none.
const END_TIME: Duration = Duration::from_secs(2);

impl Connection {
    /// Notes an event of the client.
    pub(super) fn note(&self, event: &Event) {
        match event {
            Event::Connected => {
                *self.state.lock() = State { is_up: true, ..State::default() };
                self.count.send_modify(|count| *count += 1);
            }
            Event::Disconnected => self.state.lock().end(),
            Event::ServerError(error) => self.state.lock().fail(error.to_string()),
            Event::ClientError(error) => self.state.lock().fail(error.to_string()),
            _ => {}
        }
        tracing::debug!(target: "taquin::queue", %event, "connection to the queue");
    }

    /// Number of connections so far.
    pub(super) fn count(&self) -> watch::Receiver<u64> {
        self.count.subscribe()
    }

    /// Why there is no connection; `None` if there is one, or was no attempt yet.
    pub(super) fn trouble(&self) -> Option<String> {
        self.state.lock().trouble.clone()
    }
}

impl State {
    fn end(&mut self) {
        self.is_up = false;
        let last = self.last.take().filter(|(at, _)| at.elapsed() < END_TIME);
        self.trouble.get_or_insert_with(|| last.map_or_else(|| "disconnected".to_owned(), |(_, error)| error));
    }

    fn fail(&mut self, error: String) {
        if self.is_up {
            self.last = Some((Instant::now(), error));
        } else {
            self.trouble = Some(error);
        }
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

    #[test]
    fn an_error_that_ends_no_connection_is_not_the_reason_of_its_end() {
        let connection = Connection::default();
        let error = || Event::ServerError(async_nats::ServerError::Other("stale connection".to_owned()));
        connection.note(&Event::Connected);
        connection.note(&error());
        assert_eq!(connection.trouble(), None);
        connection.note(&Event::Disconnected);
        assert_eq!(connection.trouble().as_deref(), Some("nats: stale connection"));
        connection.note(&Event::Connected);
        connection.state.lock().last = Some((Instant::now() - 2 * END_TIME, "permissions violation".to_owned()));
        connection.note(&Event::Disconnected);
        assert_eq!(connection.trouble().as_deref(), Some("disconnected"));
    }
}
