//! Logins in the URLs of servers.

use async_nats::{ConnectOptions, ServerAddr};
use percent_encoding::percent_decode_str;

use super::queue::QueueError;

/// User and password of a URL, or its token. The client does not read them there.
pub(super) fn login_of(server: &ServerAddr) -> Option<(String, Option<String>)> {
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    Some((decoded(server.username()?), server.password().map(decoded)))
}

/// Options of a connection with a login.
pub(super) fn options_of(login: Option<(String, Option<String>)>) -> ConnectOptions {
    match login {
        Some((user, Some(password))) => ConnectOptions::with_user_and_password(user, password),
        Some((token, None)) => ConnectOptions::with_token(token),
        None => ConnectOptions::new(),
    }
}

/// A server by its address alone, since the client logs it.
pub(super) fn without_login(server: ServerAddr) -> Result<ServerAddr, QueueError> {
    let mut url = server.into_inner();
    let wrong = |()| QueueError::new("a URL of a server is wrong");
    url.set_username("").and_then(|()| url.set_password(None)).map_err(wrong)?;
    ServerAddr::from_url(url).map_err(QueueError::new)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
