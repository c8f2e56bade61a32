//! Logins in the URLs of servers.

use async_nats::{ConnectOptions, ServerAddr};
use percent_encoding::percent_decode_str;

use super::queue::QueueError;

/// User and password, or a token.
type Login = (String, Option<String>);

/// The login of all these servers. The client has one, and may use it at any of them, also without TLS.
///
/// # Errors
/// [`QueueError`] if they differ.
pub(super) fn common_login(servers: &[ServerAddr]) -> Result<Option<Login>, QueueError> {
    let mut logins = servers.iter().map(login_of);
    let first = logins.next().flatten();
    if logins.all(|login| login == first) {
        Ok(first)
    } else {
        Err(QueueError::new("the URLs of the servers have different logins, or only some of them have one"))
    }
}

/// User and password of a URL, or its token. The client does not read them there.
fn login_of(server: &ServerAddr) -> Option<Login> {
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    Some((decoded(server.username()?), server.password().map(decoded)))
}

/// Options of a connection with a login.
pub(super) fn options_of(login: Option<Login>) -> ConnectOptions {
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
