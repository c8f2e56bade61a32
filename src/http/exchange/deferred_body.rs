//! Bodies that end their own access line.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::response::Response;

use super::access_log::AccessLine;

/// Makes a body from the access line of its exchange and the path of the request.
type MakeBody = Box<dyn FnOnce(AccessLine, String) -> Body + Send>;

/// A body that a handler has not made yet, because it takes over the access line: a stream logs how it ended.
///
/// The handler puts it into the extensions of an otherwise empty response.
#[derive(Clone)]
pub(crate) struct DeferredBody(Arc<Mutex<Option<MakeBody>>>);

impl DeferredBody {
    /// Has the body made by a function, which the outer layer calls once.
    pub(crate) fn new(make: impl FnOnce(AccessLine, String) -> Body + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Some(Box::new(make)))))
    }

    /// Takes the function out of a response that carries one.
    pub(crate) fn taken_from(response: &mut Response) -> Option<MakeBody> {
        let Self(make) = response.extensions_mut().remove()?;
        make.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
