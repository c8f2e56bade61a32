//! Addresses of listeners: an IP address or a name, and a port. URLs and other values, quoted without secrets.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};

/// Resolves `IP:PORT`, `NAME:PORT` or `:PORT`. A name is looked up once, here; the first IPv4 address is used if there
/// is one, otherwise the first address. Without a host, the address is the wildcard address.
///
/// # Errors
/// Returns the reason as the end of a sentence about the setting.
pub(crate) fn resolve(text: &str) -> Result<SocketAddr, String> {
    if let Ok(addr) = text.parse() {
        return Ok(addr);
    }
    match text.rsplit_once(':').and_then(|(host, port)| Some((host, parse_port(port)?))) {
        Some(("", port)) => Ok(SocketAddr::new(wildcard(), port)),
        Some((name, port)) if is_name(name) => look_up(name, port),
        _ => Err(format!(
            "{} is not an IP address or a name, and a port, such as 0.0.0.0:8080, [::]:8080, localhost:8080 or :8080",
            quoted_url(text)
        )),
    }
}

/// Returns the wildcard address with the port in a text; `None` if the text is not a port.
pub(crate) fn every_address(port: &str) -> Option<SocketAddr> {
    parse_port(port).map(|port| SocketAddr::new(wildcard(), port))
}

fn parse_port(text: &str) -> Option<u16> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// True for a host name. Digits alone would be an abbreviated or mistyped IPv4 address.
fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'))
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

fn look_up(name: &str, port: u16) -> Result<SocketAddr, String> {
    let addrs: Vec<SocketAddr> = match (name, port).to_socket_addrs() {
        Ok(addrs) => addrs.collect(),
        Err(error) => return Err(format!("{name:?} has no address: {error}; correct the name, or use an IP address")),
    };
    let chosen = addrs.iter().find(|addr| addr.is_ipv4()).or(addrs.first());
    chosen.copied().ok_or_else(|| format!("{name:?} has no address; correct the name, or use an IP address"))
}

/// The wildcard address. On usual systems the IPv6 wildcard includes IPv4.
fn wildcard() -> IpAddr {
    let has_ipv6 = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).is_ok();
    if has_ipv6 { Ipv6Addr::UNSPECIFIED.into() } else { Ipv4Addr::UNSPECIFIED.into() }
}

/// The addresses at which a listener can be reached from this machine, in the order of their trial: loopback for a
/// wildcard address. The IPv6 wildcard has both loopback addresses, since a container may have no `::1`.
pub fn reachable(listen: SocketAddr) -> Vec<SocketAddr> {
    let ips: Vec<IpAddr> = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => vec![Ipv4Addr::LOCALHOST.into()],
        IpAddr::V6(ip) if ip.is_unspecified() => vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()],
        ip => vec![ip],
    };
    ips.into_iter().map(|ip| SocketAddr::new(ip, listen.port())).collect()
}

/// Quotes a value without the user, password, query and fragment of a URL.
pub(crate) fn quoted(value: &str) -> String {
    format!("{:?}", without_secrets(value, false))
}

/// Quotes a URL or an address, which may contain a user or a query even without a scheme.
pub(crate) fn quoted_url(value: &str) -> String {
    format!("{:?}", without_secrets(value, true))
}

fn without_secrets(value: &str, is_url: bool) -> Cow<'_, str> {
    let place = value.find("://").map_or(0, |end| end + 3);
    // A password may contain any character.
    let user_info = value.rfind('@').filter(|at| is_url || place > 0 || value[..*at].contains(':'));
    let host = user_info.map_or(place, |at| at.max(place));
    let end = value[host..].find(['?', '#']).filter(|_| is_url || host > 0);
    let end = end.map_or(value.len(), |length| host + length);
    if user_info.is_none() && end == value.len() {
        return value.into();
    }
    let scheme = &value[..place];
    let is_shown = user_info.is_none_or(|at| at > place) && scheme.strip_suffix("://").is_some_and(is_scheme);
    let [before, after] = [user_info.is_some(), end < value.len()].map(|is_hidden| if is_hidden { "…" } else { "" });
    format!("{}{before}{}{after}", if is_shown { scheme } else { "" }, &value[host..end]).into()
}

/// True for a URI scheme (RFC 3986), in lower case.
pub(crate) fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'+' | b'.' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ip_address_is_taken_as_it_is() {
        for text in ["127.0.0.1:0", "[::1]:9000", "0.0.0.0:8080"] {
            assert_eq!(resolve(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_name_is_looked_up() {
        let addr = resolve("localhost:9000").unwrap();
        assert!(addr.ip().is_loopback() && addr.port() == 9000, "{addr}");
        let error = resolve("no-such-host.invalid:9000").unwrap_err();
        assert!(error.starts_with("\"no-such-host.invalid\" has no address"), "{error}");
    }

    #[test]
    fn a_port_alone_is_every_address() {
        let addr = resolve(":9000").unwrap();
        assert!(addr.ip().is_unspecified() && addr.port() == 9000, "{addr}");
    }

    #[test]
    fn other_texts_are_rejected() {
        for text in ["", ":", "9000", "localhost", "localhost:", "localhost:http", "localhost:+1", "localhost:65536"]
            .into_iter()
            .chain(["127.1:80", "1.2.3.4.5:80", "::1:80", "[::1]", "a b:80", "http://a:80"])
        {
            let error = resolve(text).unwrap_err();
            assert!(error.contains("is not an IP address"), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_wildcard_address_is_reached_by_loopback() {
        let reach = |text: &str| reachable(text.parse().unwrap()).iter().map(SocketAddr::to_string).collect::<Vec<_>>();
        assert_eq!(reach("0.0.0.0:8080"), ["127.0.0.1:8080"]);
        assert_eq!(reach("[::]:8080"), ["127.0.0.1:8080", "[::1]:8080"]);
        assert_eq!(reach("10.1.2.3:80"), ["10.1.2.3:80"]);
        assert_eq!(reach("[::1]:80"), ["[::1]:80"]);
    }

    #[test]
    fn secrets_of_urls_are_left_out() {
        for (value, shown) in [
            ("nats://user:pass@host:4222", "nats://…@host:4222"),
            ("nats://user:p@ss/w?rd#@host:4222/p", "nats://…@host:4222/p"),
            ("nats://u:secret@a,nats://u:secret@b", "nats://…@b"),
            ("https://token@host", "https://…@host"),
            ("user:pass@host:4222", "…@host:4222"),
            ("u:pass@nats://host", "…host"),
            ("https://host/path?key=secret", "https://host/path…"),
            ("https://u@host/#secret", "https://…@host/…"),
            ("user:SEC://RET@host", "…@host"),
            ("SECRET token://x@host", "…@host"),
            ("user:SEC://RET?@host#x", "…@host…"),
        ] {
            assert_eq!(quoted(value), format!("{shown:?}"), "{value}");
        }
    }

    #[test]
    fn a_url_has_secrets_also_without_a_scheme() {
        for (value, shown) in [
            ("SECRET@host:4222", "…@host:4222"),
            ("host:4222?SECRET", "host:4222…"),
            ("SECRET@host#SECRET", "…@host…"),
            ("http://SECRET@host", "http://…@host"),
            ("http://host:4318/path", "http://host:4318/path"),
            ("collector:4318", "collector:4318"),
        ] {
            assert_eq!(quoted_url(value), format!("{shown:?}"), "{value}");
        }
    }

    #[test]
    fn other_values_are_whole() {
        for value in ["", "512", "a@b", "/run/secrets/x@1?#", "info,taquin::access=off", "https://host:1/path", "ü?"] {
            assert_eq!(quoted(value), format!("{value:?}"));
        }
    }
}
