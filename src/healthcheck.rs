//! Health check for container images without a shell.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(2);

/// Requests `/livez` from the service, at one address after another until the service responds with 200.
///
/// # Errors
/// If at none of the addresses the service responds with 200 within two seconds. The error names each address.
pub fn check(addresses: &[SocketAddr]) -> io::Result<()> {
    let mut errors = Vec::new();
    for address in addresses {
        match check_at(*address) {
            Ok(()) => return Ok(()),
            Err(error) => errors.push(format!("{address}: {error}")),
        }
    }
    Err(io::Error::other(errors.join("; ")))
}

/// Requests `/livez` from the service at `address`.
fn check_at(address: SocketAddr) -> io::Result<()> {
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    // One write: `write!` would send a packet for each part of the format.
    stream.write_all(format!("GET /livez HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes())?;
    let mut status = [0; "HTTP/1.1 200 ".len()];
    stream.read_exact(&mut status)?;
    if &status == b"HTTP/1.1 200 " {
        return Ok(());
    }
    Err(io::Error::other(format!("it responded with {:?}", String::from_utf8_lossy(&status))))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// The result of a check of a server that sends `response` to one request.
    fn result_of(response: &'static [u8]) -> io::Result<()> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 512];
            let length = stream.read(&mut request).unwrap();
            stream.write_all(response).unwrap();
            String::from_utf8_lossy(&request[..length]).into_owned()
        });
        let result = check(&[address]);
        assert!(server.join().unwrap().starts_with("GET /livez HTTP/1.1\r\nHost: 127.0.0.1:"));
        result
    }

    #[test]
    fn only_status_200_is_healthy() {
        assert!(result_of(b"HTTP/1.1 200 OK\r\n\r\n").is_ok());
        assert!(result_of(b"HTTP/1.1 503 Service Unavailable\r\n\r\n").is_err());
        assert!(result_of(b"HTTP").is_err());
    }

    #[test]
    fn a_closed_port_is_unhealthy() {
        assert!(check(&[closed()]).is_err());
    }

    /// An address where nothing listens.
    fn closed() -> SocketAddr {
        TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
    }

    #[test]
    fn one_healthy_address_is_enough() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (closed, open) = (closed(), listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut [0; 16]).unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
            // The client may still be writing.
            let _ = stream.read(&mut [0; 512]);
        });
        check(&[closed, open]).unwrap();
        server.join().unwrap();
        let error = check(&[closed, open]).unwrap_err().to_string();
        assert!([closed, open].iter().all(|address| error.contains(&address.to_string())), "{error}");
    }
}
