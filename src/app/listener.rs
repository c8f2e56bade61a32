//! A listener: its accept loop and the connections it serves.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use prometheus_client::metrics::gauge::Gauge;
use rustix::net::sockopt::set_socket_send_buffer_size;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep};

use super::connection::Connection;
use super::linger::LingeringPlaces;
use super::open_connections::{EndSignal, OpenConnections};
use super::timeouts::Timeouts;
use crate::http::HttpService;

/// Maximum number of request headers. Requests with more are rejected with 431.
const MAX_HEADERS: usize = 100;

/// Maximum size of a request's first line and headers. Larger ones are rejected with 431. A connection without a
/// complete request occupies at most this buffer.
const MAX_HEADER_BYTES: usize = 16 << 10;

/// Size of a connection's send buffer. By default, Linux lets the buffer of a client that does not read grow to 4 MiB.
/// Linux lowers the value to `net.core.wmem_max`, then doubles it for its own bookkeeping.
const SEND_BUFFER_BYTES: usize = 128 << 10;

/// Divisor of the connection limit: at most this fraction may linger, so that lingering cannot keep others out.
const LINGERING_PART: usize = 4;

/// Time after closing the listener in which requests that arrived before are still read.
const LAST_READ: Duration = Duration::from_millis(100);

/// A listener with a limit of connections, and the HTTP service that they use.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: TcpListener,
    addr: SocketAddr,
    http: HttpService,
    protocol: http1::Builder,
    timeouts: Timeouts,
    max_connections: usize,
    permits: Arc<Semaphore>,
    lingering: LingeringPlaces,
    /// Number of open connections of all listeners.
    connections: Gauge,
    /// True if requests carry the address of their peer.
    /// True if each request gets the address of its peer. This costs one allocation a request.
    pub(crate) has_peer_addresses: bool,
}

/// Counts a connection as open until it is dropped.
struct OpenConnection {
    _permit: OwnedSemaphorePermit,
    connections: Gauge,
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.connections.dec();
    }
}

/// Binds an address. Port 0 binds any free port; the returned address has the actual one.
pub(crate) async fn bind(addr: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let socket = TcpListener::bind(addr).await?;
    // Connections inherit the setting.
    if let Err(error) = set_socket_send_buffer_size(&socket, SEND_BUFFER_BYTES) {
        tracing::debug!(%error, "cannot set SO_SNDBUF");
    }
    let addr = socket.local_addr()?;
    Ok((socket, addr))
}

impl Listener {
    pub(crate) fn new(
        (socket, addr): (TcpListener, SocketAddr),
        http: HttpService,
        timeouts: Timeouts,
        max_connections: usize,
        connections: Gauge,
    ) -> Self {
        let mut protocol = http1::Builder::new();
        protocol
            .header_read_timeout(timeouts.header)
            .max_headers(MAX_HEADERS)
            .max_header_size(MAX_HEADER_BYTES)
            .max_buf_size(MAX_HEADER_BYTES);
        let permits = Arc::new(Semaphore::new(max_connections));
        let lingering = LingeringPlaces::new(max_connections / LINGERING_PART);
        Self {
            socket,
            addr,
            http,
            protocol,
            timeouts,
            max_connections,
            permits,
            lingering,
            connections,
            has_peer_addresses: false,
        }
    }

    /// The bound address.
    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Limit on open connections.
    pub(crate) fn max_connections(&self) -> usize {
        self.max_connections
    }

    /// Accepts connections while polled.
    pub(crate) async fn accept_connections(&self, connections: &OpenConnections) {
        let mut warned = None;
        loop {
            // Before `accept`, so that connections beyond the limit wait in the system's queue.
            let permit = self.permit(&mut warned).await;
            let stream = accept(&self.socket).await;
            self.serve(stream, permit, connections.signal());
        }
    }

    /// Closes the listener. Accepts the connections that wait in the system's queue, up to the limit, and reads the
    /// requests that have arrived: closing a connection with unread data resets it and loses the request.
    pub(crate) async fn close(self, connections: &OpenConnections) {
        // Asks the system: the runtime may not have seen the last connections yet.
        if let Ok(listener) = self.socket.as_fd().try_clone_to_owned().map(std::net::TcpListener::from) {
            while let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned()
                && let Ok((stream, _)) = listener.accept()
                && stream.set_nonblocking(true).is_ok()
                && let Ok(stream) = TcpStream::from_std(stream)
            {
                self.serve(stream, permit, connections.signal());
            }
        }
        drop(self);
        sleep(LAST_READ).await;
    }

    /// Waits for a free connection. Warns about waiting connections at most once a minute.
    async fn permit(&self, warned: &mut Option<Instant>) -> OwnedSemaphorePermit {
        const INTERVAL: Duration = Duration::from_secs(60);
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            return permit;
        }
        if warned.is_none_or(|at| at.elapsed() >= INTERVAL) {
            *warned = Some(Instant::now());
            tracing::warn!(addr = %self.addr, max_connections = self.max_connections, "connection limit reached, further connections wait");
        }
        Arc::clone(&self.permits).acquire_owned().await.expect("the semaphore is never closed")
    }

    /// Serves a connection in its own task.
    fn serve(&self, stream: TcpStream, permit: OwnedSemaphorePermit, end: EndSignal) {
        // Responses are small and events must arrive at once: Nagle's algorithm would only delay them.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "cannot set TCP_NODELAY");
        }
        if let Err(error) = self.timeouts.set_user_timeout(&stream) {
            tracing::debug!(%error, "cannot set TCP_USER_TIMEOUT");
        }
        let connection = Connection {
            http: self.http.for_connection(),
            protocol: self.protocol.clone(),
            timeouts: self.timeouts,
            peer: self.has_peer_addresses.then(|| stream.peer_addr().ok()).flatten(),
            lingering: self.lingering.clone(),
        };
        self.connections.inc();
        let open = OpenConnection { _permit: permit, connections: self.connections.clone() };
        tokio::spawn(async move {
            connection.serve(stream, end).await;
            drop(open);
        });
    }
}

/// Accepts the next connection. No error is fatal: an error of a single connection is skipped; if the system lacks
/// files or memory, `accept` retries after a pause.
async fn accept(socket: &TcpListener) -> TcpStream {
    let mut pause = Duration::from_millis(10);
    loop {
        match socket.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) if is_about_one_connection(&error) => {}
            Err(error) => {
                tracing::warn!(%error, pause_ms = pause.as_millis() as u64, "cannot accept connections");
                sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(1));
            }
        }
    }
}

fn is_about_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

#[cfg(test)]
mod tests {
    use rustix::net::sockopt::socket_send_buffer_size;

    use super::*;

    #[tokio::test]
    async fn connections_inherit_the_send_buffer_of_their_listener() {
        let (listener, addr) = bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let _client = TcpStream::connect(addr).await.unwrap();
        let size = socket_send_buffer_size(accept(&listener).await).unwrap();
        assert!(size <= 2 * SEND_BUFFER_BYTES, "{size}");
    }
}
