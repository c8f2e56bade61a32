//! Content negotiation, and conditional responses.

mod accept;
mod conditional;

pub(crate) use accept::{choose, negotiate};
pub(crate) use conditional::{Document, is_known, is_matched, weak_etag};
