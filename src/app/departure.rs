//! Notices that a client left while its response is pending.
//!
//! hyper looks for the end of a connection only while its read buffer is empty. Bytes after the request, such as
//! another request or a body that no handler reads, hide the end. So this module also polls the socket at intervals,
//! from the first moment that a response is not ready.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Body, Bytes};
use axum::response::Response;
use hyper::Request;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use parking_lot::Mutex;
use tokio::time::{Instant, Sleep, sleep};

use super::client_socket::ClientSocket;
use super::request_body::RequestBody;
use crate::http::InfallibleService;

/// Interval of looks at the socket. A client that has closed its half still gets responses to pipelined requests that
/// each take less.
const INTERVAL: Duration = Duration::from_millis(250);

/// The client closed the connection, or its half of it, before the response was complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the client left before the response was complete")]
pub(crate) struct ClientLeft;

/// Waits for a response, unless the client leaves. Dropping the response cancels its search.
pub(crate) async fn respond<S: InfallibleService<RequestBody>>(
    socket: Arc<ClientSocket>,
    http: Arc<Mutex<S>>,
    request: Request<RequestBody>,
) -> Result<Response<WatchedBody>, ClientLeft> {
    socket.set_new_request(false);
    // Called here, because an argument would occupy memory twice.
    let mut response = pin!(http.lock().call(request));
    let mut watch = Watch { socket, tick: None };
    let response = poll_fn(|context| match response.as_mut().poll(context) {
        Poll::Ready(Ok(response)) => Poll::Ready(Ok(response)),
        Poll::Ready(Err(never)) => match never {},
        Poll::Pending => watch.poll(context).map(Err),
    })
    .await?;
    watch.tick = None;
    Ok(response.map(|body| WatchedBody { body, watch }))
}

/// A response body that fails when the client leaves while the next part is pending.
#[derive(Debug)]
pub(crate) struct WatchedBody {
    body: Body,
    watch: Watch,
}

impl WatchedBody {
    pub(crate) fn socket(&self) -> &ClientSocket {
        &self.watch.socket
    }
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(frame) => Poll::Ready(frame.map(|frame| frame.map_err(BoxError::from))),
            Poll::Pending => self.watch.poll(context).map(|left| Some(Err(left.into()))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Looks at the socket at intervals, from the first poll on.
#[derive(Debug)]
struct Watch {
    socket: Arc<ClientSocket>,
    tick: Option<Pin<Box<Sleep>>>,
}

impl Watch {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<ClientLeft> {
        let tick = self.tick.get_or_insert_with(|| Box::pin(sleep(INTERVAL)));
        loop {
            ready!(tick.as_mut().poll(context));
            if self.socket.is_closed_by_client() {
                return Poll::Ready(ClientLeft);
            }
            tick.as_mut().reset(Instant::now() + INTERVAL);
        }
    }
}
