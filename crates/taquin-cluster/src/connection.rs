//! State of the connection to the queue's servers, and the login in the servers' URLs.

use std::time::{Duration, Instant};

use async_nats::Event;
use async_nats::{ConnectOptions, ServerAddr};
use parking_lot::Mutex;
use percent_encoding::percent_decode_str;
use tokio::sync::watch;

use crate::queue::QueueError;

/// Number of connections to the queue's servers so far, and the reason for a missing connection.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    count: watch::Sender<u64>,
    state: Mutex<ConnectionState>,
}

#[derive(Debug, Default)]
struct ConnectionState {
    is_up: bool,
    /// The reason why there is no connection; `None` while connected, and before the first attempt has failed.
    trouble: Option<String>,
    /// Time and message of the last error during the present connection.
    last: Option<(Instant, String)>,
}

/// Maximum age of an error that counts as the cause of a disconnect. Most errors do not close the connection.
const END_TIME: Duration = Duration::from_secs(2);

impl Connection {
    /// Records an event of the client.
    pub(crate) fn note(&self, event: &Event) {
        match event {
            Event::Connected => {
                *self.state.lock() = ConnectionState { is_up: true, ..ConnectionState::default() };
                self.count.send_modify(|count| *count += 1);
            }
            Event::Disconnected => self.state.lock().end(),
            Event::ServerError(error) => self.state.lock().fail(error.to_string()),
            Event::ClientError(error) => self.state.lock().fail(error.to_string()),
            _ => {}
        }
        tracing::debug!(target: "taquin::queue", %event, "connection to the queue");
    }

    /// Returns a receiver of the number of connections so far.
    pub(crate) fn count(&self) -> watch::Receiver<u64> {
        self.count.subscribe()
    }

    /// Returns the reason why there is no connection; `None` while connected, and before the first attempt has failed.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.state.lock().trouble.clone()
    }
}

impl ConnectionState {
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

/// A user and a password, or a token and `None`.
type Login = (String, Option<String>);

/// Returns the login that all servers share; `None` if no URL has a login. Fails if the logins differ: the client
/// has only one login, and may send that login to any server, even without TLS.
pub(crate) fn common_login(servers: &[ServerAddr]) -> Result<Option<Login>, QueueError> {
    let mut logins = servers.iter().map(login_of);
    let first = logins.next().flatten();
    if logins.all(|login| login == first) {
        Ok(first)
    } else {
        Err(QueueError::new("the URLs of the servers have different logins, or only some of them have one"))
    }
}

/// Returns the login in a URL; `None` if the URL has none. The client itself ignores logins in URLs.
fn login_of(server: &ServerAddr) -> Option<Login> {
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    Some((decoded(server.username()?), server.password().map(decoded)))
}

pub(crate) fn options_of(login: Option<Login>) -> ConnectOptions {
    match login {
        Some((user, Some(password))) => ConnectOptions::with_user_and_password(user, password),
        Some((token, None)) => ConnectOptions::with_token(token),
        None => ConnectOptions::new(),
    }
}

/// Removes the login from a URL, since the client logs its servers' URLs.
pub(crate) fn without_login(server: ServerAddr) -> Result<ServerAddr, QueueError> {
    let mut url = server.into_inner();
    let wrong = |()| QueueError::new("a URL of a server is wrong");
    url.set_username("").and_then(|()| url.set_password(None)).map_err(wrong)?;
    ServerAddr::from_url(url).map_err(QueueError::new)
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

    #[test]
    fn logins_are_taken_out_of_urls() {
        for (url, login) in [
            ("nats://us%40er:se%2Fcret@host:4222", Some(("us@er".to_owned(), Some("se/cret".to_owned())))),
            ("tls://token@host:4222", Some(("token".to_owned(), None))),
            ("nats://host:4222", None),
        ] {
            let server: ServerAddr = url.parse().unwrap();
            assert_eq!(login_of(&server), login, "{url}");
            let plain = without_login(server).unwrap();
            assert_eq!(
                (plain.host(), plain.port(), plain.username(), plain.password()),
                ("host", 4222, None, None),
                "{url}"
            );
        }
    }
    #[test]
    fn all_servers_have_one_login() {
        let login = |urls: &str| {
            let servers: Vec<ServerAddr> = urls.split(',').map(|url| url.parse().unwrap()).collect();
            common_login(&servers).map_err(|error| error.to_string())
        };
        assert_eq!(login("nats://a,nats://b"), Ok(None));
        assert_eq!(login("tls://u:secret@a,tls://u:secret@b"), Ok(Some(("u".to_owned(), Some("secret".to_owned())))));
        for urls in ["nats://a,tls://u:secret@b", "tls://u:secret@a,nats://b", "tls://u:secret@a,tls://v:secret@b"] {
            let error = login(urls).unwrap_err();
            assert!(error.contains("different logins") && !error.contains("secret"), "{error}");
        }
    }
}
