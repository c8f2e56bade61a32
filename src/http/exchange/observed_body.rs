//! A request body that records whether all bytes were read.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::body::HttpBody;
use axum::http::Request;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};

/// A request body with its end flag.
#[derive(Debug)]
pub(super) struct ObservedBody<B> {
    body: B,
    is_at_end: BodyEnd,
}

/// Flag: the request body was read to its end. Always true for an empty body.
#[derive(Clone, Debug)]
pub(super) struct BodyEnd(Option<Arc<AtomicBool>>);

impl BodyEnd {
    /// False if the body has unread bytes, which could be mistaken for the next request, or if the body is broken.
    pub(super) fn is_reached(&self) -> bool {
        self.0.as_ref().is_none_or(|is_at_end| is_at_end.load(Ordering::Relaxed))
    }
}

impl<B: HttpBody> ObservedBody<B> {
    /// Observes the body of a request.
    pub(super) fn of(request: Request<B>) -> (Request<Self>, BodyEnd) {
        let end = BodyEnd((!request.body().is_end_stream()).then(Arc::default));
        (request.map(|body| Self { body, is_at_end: end.clone() }), end)
    }
}

impl<B: HttpBody<Data = Bytes> + Unpin> HttpBody for ObservedBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        let is_over = match &frame {
            Poll::Ready(None) => true,
            Poll::Ready(Some(Ok(_))) => self.body.is_end_stream(),
            Poll::Ready(Some(Err(_))) | Poll::Pending => false,
        };
        if let Some(is_at_end) = self.is_at_end.0.as_ref().filter(|_| is_over) {
            is_at_end.store(true, Ordering::Relaxed);
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
