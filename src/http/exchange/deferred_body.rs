//! Bodies that own the access line of their request.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use parking_lot::Mutex;

use super::access_log::AccessLine;

/// Creates a body from the access line and the path of the request.
type MakeBody = Box<dyn FnOnce(AccessLine, String) -> Body + Send>;

/// A function that creates a response body. The body owns the access line, so that a stream logs its own end.
///
/// The handler puts the function into the extensions of an empty response; the outer layer calls it.
#[derive(Clone)]
pub(crate) struct DeferredBody(Arc<Mutex<Option<MakeBody>>>);

impl DeferredBody {
    /// Wraps a function that creates the body. The outer layer calls it once.
    pub(crate) fn new(make: impl FnOnce(AccessLine, String) -> Body + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Some(Box::new(make)))))
    }

    /// Removes the function from the extensions of a response, if there is one.
    pub(crate) fn take_from(response: &mut Response) -> Option<MakeBody> {
        let Self(make) = response.extensions_mut().remove()?;
        make.lock().take()
    }
}
