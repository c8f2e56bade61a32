//! One connection, from `accept` to its close.

use std::error::Error;
use std::net::SocketAddr;
use std::pin;
use std::sync::Arc;

use axum::extract::ConnectInfo;
use futures_util::TryFutureExt;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::net::TcpStream;

use super::client_socket::ClientStream;
use super::connection_age::ConnectionAge;
use super::departure::{WatchedBody, respond};
use super::linger::{LingeringPlaces, must_linger};
use super::open_connections::EndSignal;
use super::repoll::repoll;
use super::request_body::RequestBody;
use super::timeouts::{HeaderTimer, Timeouts, Wait};
use crate::http::InfallibleService;

/// Log target of the lines about connections.
const LOG_TARGET: &str = "taquin::app::listener";

/// Resources of a connection.
#[derive(Debug)]
pub(crate) struct Connection<S> {
    pub(crate) http: S,
    pub(crate) protocol: http1::Builder,
    pub(crate) timeouts: Timeouts,
    /// The peer's address, if requests carry it.
    pub(crate) peer: Option<SocketAddr>,
    pub(crate) lingering: LingeringPlaces,
}

impl<S: InfallibleService<RequestBody>> Connection<S> {
    /// Serves requests until the connection ends. Closes the service's half; the socket closes when it is dropped.
    pub(crate) async fn serve(mut self, stream: TcpStream, mut end: EndSignal) {
        let age = self.timeouts.age.map(|max| Arc::new(ConnectionAge::new(max)));
        let wait = Wait::new(age.as_ref().map(|age| age.over_at()));
        // Without a timer hyper silently ignores its timeouts.
        self.protocol.timer(HeaderTimer::new(self.timeouts, wait.clone()));
        let stream = ClientStream::new(stream, self.timeouts, wait.clone());
        let socket = stream.socket();
        let mut io = TokioIo::new(stream);
        let (http, peer, requests) = (Arc::new(Mutex::new(self.http)), self.peer, Arc::clone(&socket));
        let mut service = service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(|body| RequestBody::new(body, &requests));
            if let Some(peer) = peer {
                request.extensions_mut().insert(ConnectInfo(peer));
            }
            requests.set_new_request(true);
            let age = age.clone();
            // An async block would occupy memory for the request twice.
            respond(Arc::clone(&requests), Arc::clone(&http), request).map_ok(|response| announce_end(response, age))
        });
        let (ended, has_unread_bytes) = loop {
            let mut connection = self.protocol.serve_connection(io, service);
            let ended = tokio::select! {
                biased;
                () = end.wait() => {
                    pin::Pin::new(&mut connection).graceful_shutdown();
                    (&mut connection).await
                }
                ended = repoll(&mut connection) => ended,
            };
            let parts = connection.into_parts();
            let has_unread_bytes = has_request_bytes(&parts.read_buf);
            let is_idle = is_timeout(&ended) && wait.is_idle();
            if !is_idle || has_unread_bytes || !wait.resume() {
                log_end(&ended, is_idle && !has_unread_bytes);
                break (ended, has_unread_bytes);
            }
            (io, service) = (parts.io, parts.service);
        };
        if is_answered(&ended) && must_linger(&socket, has_unread_bytes) {
            self.lingering.linger(&socket, end).await;
        }
    }
}

/// Announces the end of a connection that has an unread body, or has reached its maximum age.
fn announce_end(mut response: Response<WatchedBody>, age: Option<Arc<ConnectionAge>>) -> Response<WatchedBody> {
    // The rest of a body, or what follows a broken one, cannot be distinguished from a next request.
    if response.body().socket().has_unread_body() {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    if let Some(age) = age {
        let has_next = response.body().socket().has_next_bytes();
        age.announce_end(&mut response, has_next);
    }
    response
}

/// True if bytes of a request are in the buffer. Empty lines before a request are ignored (RFC 9112, section 2.2).
fn has_request_bytes(buffer: &[u8]) -> bool {
    buffer.iter().any(|byte| !matches!(byte, b'\r' | b'\n'))
}

fn is_timeout(ended: &hyper::Result<()>) -> bool {
    ended.as_ref().is_err_and(hyper::Error::is_timeout)
}

/// True if every request read has a response. hyper itself responds to bytes that it cannot parse.
fn is_answered(ended: &hyper::Result<()>) -> bool {
    ended.as_ref().map_or_else(hyper::Error::is_parse, |()| true)
}

fn log_end(ended: &hyper::Result<()>, is_idle: bool) {
    match ended {
        Ok(()) => {}
        Err(_) if is_idle => tracing::debug!(target: LOG_TARGET, "idle connection closed"),
        Err(error) => {
            let cause = error.source().map(tracing::field::display);
            tracing::debug!(target: LOG_TARGET, %error, cause, "connection ended early");
        }
    }
}
