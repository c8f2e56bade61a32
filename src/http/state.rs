//! What handlers can take as `State`.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::FromRef;

use super::exchange::HttpMetrics;
use crate::service::Service;

/// What a client may send, and whether it leaves traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HttpSettings {
    /// The largest body that is read, in bytes.
    pub max_body: usize,
    /// How long a whole body may take to arrive.
    pub body_timeout: Duration,
    /// Refuses bodies whose type is the one that `curl -d` sets by itself.
    pub strict_content_type: bool,
    /// Whether requests leave spans, with whatever takes those of this process.
    pub traces: bool,
}

/// What handlers can take as `State`, whole or in parts. It is cloned some times a request, so it is
/// one pointer.
#[derive(Clone, Debug)]
pub(crate) struct Shared(pub(crate) Arc<House>);

#[derive(Debug)]
pub(crate) struct House {
    pub(crate) service: Arc<Service>,
    pub(crate) settings: HttpSettings,
    pub(crate) metrics: HttpMetrics,
}

impl FromRef<Shared> for Arc<Service> {
    fn from_ref(shared: &Shared) -> Self {
        Self::clone(&shared.0.service)
    }
}

impl FromRef<Shared> for HttpSettings {
    fn from_ref(shared: &Shared) -> Self {
        shared.0.settings
    }
}

impl FromRef<Shared> for HttpMetrics {
    fn from_ref(shared: &Shared) -> Self {
        shared.0.metrics.clone()
    }
}
