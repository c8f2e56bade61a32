//! In which type to answer, and answers that a client may have already.

mod accept;
mod conditional;

pub(crate) use accept::{choose, negotiate};
pub(crate) use conditional::{Document, weak_etag};
