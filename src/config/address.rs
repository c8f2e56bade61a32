//! Addresses of listeners: an IP address or a name, and a port.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};

use super::quoted::quoted_url;

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

/// The address to connect to: loopback for a wildcard address.
pub fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
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
        let reach = |text: &str| reachable(text.parse().unwrap()).to_string();
        assert_eq!(reach("0.0.0.0:8080"), "127.0.0.1:8080");
        assert_eq!(reach("[::]:8080"), "[::1]:8080");
        assert_eq!(reach("10.1.2.3:80"), "10.1.2.3:80");
    }
}
