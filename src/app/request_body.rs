//! A request body that tells its socket whether all of it was read.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};

use super::client_socket::ClientSocket;

/// A request body. Its socket has an unread body until the end of this one is reached.
#[derive(Debug)]
pub(crate) struct RequestBody {
    body: Incoming,
    socket: Arc<ClientSocket>,
}

impl RequestBody {
    pub(crate) fn new(body: Incoming, socket: &Arc<ClientSocket>) -> Self {
        socket.set_unread_body(!body.is_end_stream());
        Self { body, socket: Arc::clone(socket) }
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
            self.socket.set_unread_body(false);
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
