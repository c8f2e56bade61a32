//! Application state, shared by all handlers.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::FromRef;
use prometheus_client::registry::Registry;
use tokio::sync::Semaphore;

use crate::jobs::JobEngine;
use crate::service::Service;

/// Settings of request handling.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HttpSettings {
    /// Maximum size of a request body, in bytes.
    pub max_body: usize,
    /// Maximum time for a whole request body to arrive.
    pub body_timeout: Duration,
    /// Rejects bodies of type `application/x-www-form-urlencoded`, the default of `curl -d`, and JSON of type
    /// `text/plain`, the default of `fetch` with a string.
    pub strict_content_type: bool,
    /// Records a span for each request.
    pub traces: bool,
    /// Limits of a batch.
    pub batch: BatchLimits,
}

/// Limits of a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BatchLimits {
    /// Maximum number of boards.
    pub boards: usize,
    /// Maximum size of the body, in bytes.
    pub bytes: usize,
}

impl BatchLimits {
    /// Memory of labels that wait for the client, in bytes. A batch pauses when they take more.
    pub(crate) const HELD: usize = 1 << 20;

    /// Memory of a row in addition to its line, in bytes.
    pub(crate) const BYTES_OF_A_ROW: usize = 64;

    /// Maximum memory of a batch, from the number of rows and of bytes of the body: the body, its lines, and labels.
    pub(crate) fn memory(body: usize, rows: usize) -> usize {
        /// A solution of some thousand moves.
        const BYTES_OF_A_LABEL: usize = 1 << 10;
        body + Self::BYTES_OF_A_ROW * rows + Self::HELD.min(BYTES_OF_A_LABEL * rows)
    }
}

/// Base path of the service, and origins of pages that may show the service in a frame.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Site {
    /// Path below which a proxy offers the service, without a trailing slash; empty without a base path.
    pub base_path: String,
    /// Origins whose pages may show the playground in a frame, or `*` alone for all.
    pub frame_origins: Vec<String>,
}

/// State shared by all handlers. axum clones it several times a request, so it is one pointer.
#[derive(Clone, Debug)]
pub(crate) struct AppState(pub(crate) Arc<SharedState>);

/// State of both listeners.
#[derive(Debug)]
pub(crate) struct SharedState {
    pub(crate) service: Arc<Service>,
    pub(crate) settings: HttpSettings,
    pub(crate) site: Site,
    pub(crate) jobs: Option<JobsState>,
    /// The metrics that `/metrics` writes.
    pub(crate) registry: Registry,
}

/// The engine of jobs, and whether each job belongs to a token.
#[derive(Clone, Debug)]
pub(crate) struct JobsState {
    /// The engine.
    pub(crate) engine: Arc<JobEngine>,
    /// True if each request has a token.
    pub(crate) has_tokens: bool,
    /// Permits to compute responses from files of jobs.
    pub(crate) readers: Arc<Semaphore>,
}

impl Deref for AppState {
    type Target = SharedState;

    fn deref(&self) -> &SharedState {
        &self.0
    }
}

impl FromRef<AppState> for Arc<Service> {
    fn from_ref(state: &AppState) -> Self {
        Self::clone(&state.service)
    }
}

impl FromRef<AppState> for HttpSettings {
    fn from_ref(state: &AppState) -> Self {
        state.settings
    }
}
