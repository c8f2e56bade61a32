//! What handlers can take as `State`.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::FromRef;
use prometheus_client::registry::Registry;

use crate::service::Service;

/// Limits of requests, and whether they leave traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HttpSettings {
    /// The largest body that is read, in bytes.
    pub max_body: usize,
    /// How long a whole body may take to arrive.
    pub body_timeout: Duration,
    /// Rejects bodies of the type that `curl -d` sets by default.
    pub strict_content_type: bool,
    /// Whether requests leave spans.
    pub traces: bool,
}

/// The state that all handlers share. axum clones it several times a request, so it is one pointer.
#[derive(Clone, Debug)]
pub(crate) struct AppState(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    service: Arc<Service>,
    settings: HttpSettings,
    registry: Registry,
}

impl AppState {
    /// State of both listeners; `registry` has the metrics that `/metrics` writes.
    pub(crate) fn new(service: Arc<Service>, settings: HttpSettings, registry: Registry) -> Self {
        Self(Arc::new(Shared { service, settings, registry }))
    }

    pub(crate) fn service(&self) -> &Arc<Service> {
        &self.0.service
    }

    pub(crate) fn settings(&self) -> HttpSettings {
        self.0.settings
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.0.registry
    }
}

impl FromRef<AppState> for Arc<Service> {
    fn from_ref(state: &AppState) -> Self {
        Self::clone(state.service())
    }
}

impl FromRef<AppState> for HttpSettings {
    fn from_ref(state: &AppState) -> Self {
        state.settings()
    }
}
