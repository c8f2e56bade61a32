//! A listener, and the connections that come in by it.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ConnectInfo;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use prometheus_client::metrics::gauge::Gauge;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep};

use super::AppError;
use super::timeouts::{HeadTimer, Idle, Patience, PatientStream};
use crate::http::Conducted;

/// The most headers that a request may have; one more is answered 431.
const MAX_HEADERS: usize = 100;

/// The most bytes of a request's line and headers; more are answered 431. It is what a connection
/// can make the service hold before it has asked for anything.
const MAX_HEADER_BYTES: usize = 16 << 10;

/// How long after a door is closed requests are read that came before.
const LAST_READ: Duration = Duration::from_millis(100);

/// A listener with a cap on its connections, and what is served by them.
#[derive(Debug)]
pub(super) struct Door {
    listener: TcpListener,
    addr: SocketAddr,
    router: Conducted,
    protocol: http1::Builder,
    patience: Patience,
    max_connections: usize,
    permits: Arc<Semaphore>,
    /// Connections that are open, by this door and others.
    connections: Gauge,
    /// Whether requests are told whose connection they came by.
    tells_peer: bool,
}

/// One connection's place.
struct Place {
    _permit: OwnedSemaphorePermit,
    connections: Gauge,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.dec();
    }
}

/// Binds an address; port 0 is any free one, and the address returned says which.
pub(super) async fn bind(addr: SocketAddr) -> Result<(TcpListener, SocketAddr), AppError> {
    let failed = |source| AppError::Bind { addr, source };
    let listener = TcpListener::bind(addr).await.map_err(failed)?;
    let addr = listener.local_addr().map_err(failed)?;
    Ok((listener, addr))
}

impl Door {
    pub(super) fn new(
        (listener, addr): (TcpListener, SocketAddr),
        router: Conducted,
        patience: Patience,
        max_connections: usize,
        connections: Gauge,
    ) -> Self {
        let mut protocol = http1::Builder::new();
        protocol
            .header_read_timeout(patience.header)
            .max_headers(MAX_HEADERS)
            .max_header_size(MAX_HEADER_BYTES)
            .max_buf_size(MAX_HEADER_BYTES);
        let permits = Arc::new(Semaphore::new(max_connections));
        Self { listener, addr, router, protocol, patience, max_connections, permits, connections, tells_peer: false }
    }

    /// Has requests told whose connection they came by: it costs an allocation a request.
    #[must_use]
    pub(super) fn telling_peers(self) -> Self {
        Self { tells_peer: true, ..self }
    }

    /// Where it listens.
    pub(super) fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The most connections at the same time.
    pub(super) fn max_connections(&self) -> usize {
        self.max_connections
    }

    /// Lets connections in for as long as it is polled.
    pub(super) async fn keep_open(&self, connections: &GracefulShutdown) {
        let mut told = None;
        loop {
            // Before `accept`, so that whoever does not fit waits in the system's queue.
            let permit = self.permit(&mut told).await;
            let stream = accept(&self.listener).await;
            self.serve(stream, permit, connections.watcher());
        }
    }

    /// Closes it. Whoever stands before it by then is let in, if there is a place, and what they all sent by then is
    /// read: a connection that is closed with a request unread is reset, and the request lost.
    pub(super) async fn close(self, connections: &GracefulShutdown) {
        // The system is asked, for the runtime may not have heard of the last ones.
        if let Ok(listener) = self.listener.as_fd().try_clone_to_owned().map(std::net::TcpListener::from) {
            while let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned()
                && let Ok((stream, _)) = listener.accept()
                && stream.set_nonblocking(true).is_ok()
                && let Ok(stream) = TcpStream::from_std(stream)
            {
                self.serve(stream, permit, connections.watcher());
            }
        }
        drop(self);
        sleep(LAST_READ).await;
    }

    /// A place for one connection; a full house is told once a minute at most.
    async fn permit(&self, told: &mut Option<Instant>) -> OwnedSemaphorePermit {
        const SILENCE: Duration = Duration::from_secs(60);
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            return permit;
        }
        if told.is_none_or(|told| told.elapsed() >= SILENCE) {
            *told = Some(Instant::now());
            tracing::warn!(addr = %self.addr, max_connections = self.max_connections, "further connections wait");
        }
        Arc::clone(&self.permits).acquire_owned().await.expect("nobody closes the semaphore")
    }

    /// Serves a connection in a task of its own.
    fn serve(&self, stream: TcpStream, permit: OwnedSemaphorePermit, watcher: Watcher) {
        // Answers are small, and events wanted at once: waiting to fill a packet only delays them.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "cannot set TCP_NODELAY");
        }
        if let Err(error) = self.patience.bound_by_system(&stream) {
            tracing::debug!(%error, "cannot set TCP_USER_TIMEOUT");
        }
        let peer = self.tells_peer.then(|| stream.peer_addr().ok()).flatten();
        let idle = Idle::default();
        let io = TokioIo::new(PatientStream::new(stream, self.patience, idle.clone()));
        let router = Arc::new(self.router.clone());
        let service = service_fn(move |mut request: Request<Incoming>| {
            if let Some(peer) = peer {
                request.extensions_mut().insert(ConnectInfo(peer));
            }
            router.answer(request)
        });
        self.connections.inc();
        let place = Place { _permit: permit, connections: self.connections.clone() };
        let mut protocol = self.protocol.clone();
        // Without a timer hyper forgets its time-outs, and says nothing.
        protocol.timer(HeadTimer::new(self.patience, idle.clone()));
        let connection = watcher.watch(protocol.serve_connection(io, service));
        tokio::spawn(async move {
            match connection.await {
                Ok(()) => {}
                Err(error) if error.is_timeout() && idle.get() => tracing::debug!("idle connection closed"),
                Err(error) => {
                    let cause = error.source().map(tracing::field::display);
                    tracing::debug!(%error, cause, "connection ended early");
                }
            }
            drop(place);
        });
    }
}

/// The next connection. No error of accepting is fatal: a connection that is gone already costs
/// nothing, and if the system is out of files or memory, waiting is what helps.
async fn accept(listener: &TcpListener) -> TcpStream {
    let mut pause = Duration::from_millis(10);
    loop {
        match listener.accept().await {
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
