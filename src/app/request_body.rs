//! A request body that records whether it was read to its end.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};

use super::client_socket::ClientSocket;

/// A request body. If it is dropped before its end, the socket learns that the client may still be sending it.
#[derive(Debug)]
pub(crate) struct RequestBody {
    body: Incoming,
    /// `None` once the body is at its end.
    socket: Option<Arc<ClientSocket>>,
}

impl RequestBody {
    pub(crate) fn new(body: Incoming, socket: &Arc<ClientSocket>) -> Self {
        let socket = (!body.is_end_stream()).then(|| Arc::clone(socket));
        Self { body, socket }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if matches!(frame, Poll::Ready(None)) || self.body.is_end_stream() {
            self.socket = None;
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if let Some(socket) = &self.socket {
            socket.note_unread_body();
        }
    }
}
