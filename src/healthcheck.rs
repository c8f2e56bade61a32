//! The probe for images that have no shell.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(2);

/// Asks the service that listens on `listen` whether it is alive.
///
/// # Errors
/// If it cannot be reached, keeps silent for two seconds, or answers anything but 200.
pub fn check(listen: SocketAddr) -> io::Result<()> {
    let address = reachable(listen);
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)
        .map_err(|error| io::Error::new(error.kind(), format!("{address}: {error}")))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // In one piece: `write!` would send a packet for each part of the format.
    stream.write_all(format!("GET /livez HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes())?;
    let mut status = [0; "HTTP/1.1 200 ".len()];
    stream.read_exact(&mut status)?;
    if &status == b"HTTP/1.1 200 " {
        return Ok(());
    }
    Err(io::Error::other(format!("{address} answered {:?}", String::from_utf8_lossy(&status))))
}

/// Where to reach a socket that listens on every address.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// The verdict on a server that answers one request with `answer`.
    fn verdict(answer: &'static [u8]) -> io::Result<()> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 512];
            let length = stream.read(&mut request).unwrap();
            stream.write_all(answer).unwrap();
            String::from_utf8_lossy(&request[..length]).into_owned()
        });
        let verdict = check(address);
        assert!(server.join().unwrap().starts_with("GET /livez HTTP/1.1\r\nHost: 127.0.0.1:"));
        verdict
    }

    #[test]
    fn only_200_is_health() {
        assert!(verdict(b"HTTP/1.1 200 OK\r\n\r\n").is_ok());
        assert!(verdict(b"HTTP/1.1 503 Service Unavailable\r\n\r\n").is_err());
        assert!(verdict(b"HTTP").is_err());
    }

    #[test]
    fn a_closed_port_is_no_health() {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert!(check(address).is_err());
    }

    #[test]
    fn a_socket_on_every_address_is_reached_by_loopback() {
        let reach = |text: &str| reachable(text.parse().unwrap()).to_string();
        assert_eq!(reach("0.0.0.0:8080"), "127.0.0.1:8080");
        assert_eq!(reach("[::]:8080"), "[::1]:8080");
        assert_eq!(reach("10.1.2.3:80"), "10.1.2.3:80");
    }
}
