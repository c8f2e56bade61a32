//! The bytes of a response: whole in memory, or produced in pieces while the client reads.

use std::convert::Infallible;
use std::fmt::Debug;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream::unfold;

/// Approximate size of a piece in bytes. Producing one takes some ten microseconds.
pub(crate) const PIECE: usize = 16 << 10;

/// Producer of a long response, whose bytes are never in memory all at once.
pub(crate) trait Pieces: Debug + Send {
    /// Appends bytes until `piece` has at least [`PIECE`] bytes or the response is complete.
    fn write(&mut self, piece: &mut Vec<u8>);
}

impl dyn Pieces {
    /// Returns the next piece, or `None` after the last one. Yields to other connections first.
    pub(crate) async fn next(&mut self) -> Option<Bytes> {
        tokio::task::yield_now().await;
        let mut piece = Vec::with_capacity(PIECE + PIECE / 8);
        self.write(&mut piece);
        (!piece.is_empty()).then(|| piece.into())
    }
}

/// The bytes of a response or of a part of one.
#[derive(Debug)]
pub(crate) enum Payload {
    /// All bytes.
    Whole(Vec<u8>),
    /// Bytes that are still to be produced.
    Pieces(Box<dyn Pieces>),
}

impl Payload {
    /// Adds text before and after the payload.
    pub(crate) fn between(self, before: impl AsRef<[u8]>, after: impl AsRef<[u8]>) -> Self {
        match self {
            Self::Whole(text) => Self::Whole([before.as_ref(), &text, after.as_ref()].concat()),
            Self::Pieces(pieces) => {
                let (before, after) = (before.as_ref().to_vec(), after.as_ref().to_vec());
                Self::Pieces(Box::new(Between { before, pieces, after }))
            }
        }
    }

    /// The length in bytes; `None` for pieces.
    pub(crate) fn length(&self) -> Option<usize> {
        match self {
            Self::Whole(text) => Some(text.len()),
            Self::Pieces(_) => None,
        }
    }

    /// Converts the payload into a response body.
    pub(crate) fn body(self) -> Body {
        match self {
            Self::Whole(text) => Body::from(text),
            Self::Pieces(pieces) => Body::from_stream(unfold(pieces, |mut pieces| async {
                Some((Ok::<_, Infallible>(pieces.next().await?), pieces))
            })),
        }
    }
}

/// Pieces with text before the first and after the last one.
#[derive(Debug)]
struct Between {
    before: Vec<u8>,
    pieces: Box<dyn Pieces>,
    after: Vec<u8>,
}

impl Pieces for Between {
    fn write(&mut self, piece: &mut Vec<u8>) {
        piece.append(&mut self.before);
        self.pieces.write(piece);
        if piece.len() < PIECE {
            piece.append(&mut self.after);
        }
    }
}
