//! Content negotiation, and conditional responses.

mod accept;
mod conditional;

pub(crate) use accept::{choose, choose_for, negotiate};
pub(crate) use conditional::{Document, is_known, is_matched, weak_etag};
