//! A build without traces: there is nothing to send.

use std::error::Error;

use crate::config::TraceConfig;

/// Stands where traces would be.
#[derive(Debug)]
pub(super) struct Traces;

impl Traces {
    #[expect(clippy::unnecessary_wraps, reason = "with traces it can fail")]
    pub(super) fn start(_: Option<&TraceConfig>) -> Result<Self, Box<dyn Error>> {
        Ok(Self)
    }

    /// Does nothing.
    pub(super) fn finish(self) {}
}
