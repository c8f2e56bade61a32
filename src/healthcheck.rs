//! Health check for container images without a shell.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Time for all addresses together. The health check of the container image may take three seconds.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Requests `/livez` from the service, at one address after another until the service responds with 200. The check
/// takes two seconds at most. Each address may take an equal share of the time that is left for it and for the
/// addresses after it.
///
/// # Errors
/// If at none of the addresses the service responds with 200 in time. The error names each address.
pub fn check(addresses: &[SocketAddr]) -> io::Result<()> {
    check_within(addresses, TIMEOUT)
}

fn check_within(addresses: &[SocketAddr], time: Duration) -> io::Result<()> {
    let end = Instant::now() + time;
    let mut errors = Vec::new();
    for (address, untried) in addresses.iter().zip((1..=addresses.len() as u32).rev()) {
        let now = Instant::now();
        let share = end.saturating_duration_since(now) / untried;
        match check_at(*address, now + share) {
            Ok(()) => return Ok(()),
            Err(error) => errors.push(format!("{address}: {error}")),
        }
    }
    Err(io::Error::other(errors.join("; ")))
}

/// Requests `/livez` from the service at `address`.
fn check_at(address: SocketAddr, deadline: Instant) -> io::Result<()> {
    let stream = TcpStream::connect_timeout(&address, time_until(deadline)?)?;
    let mut connection = Connection { stream, deadline };
    // One write: `write!` would send a packet for each part of the format.
    let request = format!("GET /livez HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    connection.write_all(request.as_bytes())?;
    let mut status = [0; "HTTP/1.1 200 ".len()];
    connection.read_exact(&mut status)?;
    if &status == b"HTTP/1.1 200 " {
        return Ok(());
    }
    Err(io::Error::other(format!("the service responded with {:?}", String::from_utf8_lossy(&status))))
}

/// A connection whose operations together end at a deadline.
struct Connection {
    stream: TcpStream,
    deadline: Instant,
}

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(time_until(self.deadline)?))?;
        self.stream.read(buffer)
    }
}

impl Write for Connection {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(time_until(self.deadline)?))?;
        self.stream.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Returns the time until a deadline. Fails if the deadline has passed, because sockets accept no timeout of zero.
fn time_until(deadline: Instant) -> io::Result<Duration> {
    let time = deadline.saturating_duration_since(Instant::now());
    if time.is_zero() { Err(io::Error::new(io::ErrorKind::TimedOut, "the time is over")) } else { Ok(time) }
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

    #[test]
    fn the_error_has_the_response() {
        let error = result_of(b"HTTP/1.1 503 Service Unavailable\r\n\r\n").unwrap_err().to_string();
        assert!(error.ends_with(": the service responded with \"HTTP/1.1 503 \""), "{error}");
    }

    #[test]
    fn addresses_that_never_respond_share_the_time() {
        // The system accepts the connections; nothing reads them.
        let listeners = [(); 4].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let silent = listeners.each_ref().map(|listener| listener.local_addr().unwrap());
        let (start, time) = (Instant::now(), Duration::from_secs(1));
        let error = check_within(&silent, time).unwrap_err().to_string();
        assert!(start.elapsed() < 3 * time, "{:?}", start.elapsed());
        assert!(silent.iter().all(|address| error.contains(&address.to_string())), "{error}");
    }

    #[test]
    fn an_address_that_never_responds_leaves_time_for_the_next() {
        let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let [silent, healthy] = listeners.each_ref().map(|listener| listener.local_addr().unwrap());
        let [_silent, listener] = listeners;
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
            let _ = stream.read(&mut [0; 512]);
        });
        check(&[silent, healthy]).unwrap();
        server.join().unwrap();
    }

    #[test]
    fn a_response_that_drips_does_not_extend_the_time() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let sent = b"HTTP/1.1 200 ".chunks(1).take_while(|byte| {
                thread::sleep(Duration::from_millis(50));
                stream.write_all(byte).is_ok()
            });
            sent.count()
        });
        assert!(check_within(&[address], Duration::from_millis(300)).is_err());
        server.join().unwrap();
    }
}
