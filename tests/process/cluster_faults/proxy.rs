//! A proxy before a store, with faults.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, Weak};
use std::thread::{sleep, spawn};
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;

/// What happens to each request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    /// It reaches the store after this time.
    Slow(Duration),
    /// Its connection is refused.
    Down,
    /// The response is 503.
    Unavailable,
    /// Its connection is reset.
    Reset,
    /// The store does it, and the connection is reset before the response.
    Lost,
}

/// A proxy of HTTP with one request for each connection. It ends when dropped.
pub(super) struct Proxy {
    pub(super) url: String,
    fault: Arc<Mutex<Fault>>,
}

impl Proxy {
    /// A proxy before the store with this URL.
    pub(super) fn start(store: &str) -> Self {
        let store: SocketAddr = store.trim_start_matches("http://").parse().expect("an address");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let fault = Arc::new(Mutex::new(Fault::None));
        let watched = Arc::downgrade(&fault);
        spawn(move || listen(listener, &watched, store));
        Self { url, fault }
    }

    pub(super) fn set(&self, fault: Fault) {
        *self.fault.lock().expect("a fault") = fault;
    }
}

fn listen(listener: TcpListener, fault: &Weak<Mutex<Fault>>, store: SocketAddr) {
    let addr = listener.local_addr().expect("an address");
    let mut listener = Some(listener);
    while let Some(fault) = fault.upgrade() {
        let now = *fault.lock().expect("a fault");
        if now == Fault::Down {
            listener = None;
        } else {
            let listener = listener.get_or_insert_with(|| TcpListener::bind(addr).expect("the port"));
            listener.set_nonblocking(true).expect("an option");
            while let Ok((client, _)) = listener.accept() {
                client.set_nonblocking(false).expect("an option");
                // A connection that ends early is a matter of its client.
                spawn(move || serve(client, now, store).unwrap_or_default());
            }
        }
        drop(fault);
        sleep(Duration::from_millis(1));
    }
}

fn serve(mut client: TcpStream, fault: Fault, store: SocketAddr) -> std::io::Result<()> {
    let request = read_request(&mut client)?;
    match fault {
        Fault::Slow(time) => sleep(time),
        Fault::Unavailable => {
            return client.write_all(b"HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
        Fault::Reset => return set_socket_linger(&client, Some(Duration::ZERO)).map_err(Into::into),
        Fault::None | Fault::Down | Fault::Lost => {}
    }
    let mut upstream = TcpStream::connect(store)?;
    upstream.write_all(&closing(request))?;
    let mut response = Vec::new();
    upstream.read_to_end(&mut response)?;
    if fault == Fault::Lost {
        return set_socket_linger(&client, Some(Duration::ZERO)).map_err(Into::into);
    }
    client.write_all(&closing(response))?;
    client.shutdown(Shutdown::Write)
}

/// Reads a request whose body has a length.
fn read_request(client: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let (mut request, mut buffer) = (Vec::new(), [0; 1 << 14]);
    loop {
        if let Some(end) = request.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&request[..end]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            if request.len() >= end + 4 + length.unwrap_or(0) {
                return Ok(request);
            }
        }
        match client.read(&mut buffer)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            read => request.extend_from_slice(&buffer[..read]),
        }
    }
}

/// A message after which the connection ends.
fn closing(mut message: Vec<u8>) -> Vec<u8> {
    let line = message.windows(2).position(|window| window == b"\r\n").map_or(0, |end| end + 2);
    message.splice(line..line, *b"Connection: close\r\n");
    message
}
