//! Stand-in for `traces` in builds without the feature `otel`.

use std::error::Error;

use crate::config::TraceConfig;

/// Does nothing.
#[derive(Debug)]
pub(crate) struct Traces;

impl Traces {
    #[expect(clippy::unnecessary_wraps, reason = "with traces it can fail")]
    pub(crate) fn start(_: Option<&TraceConfig>) -> Result<Self, Box<dyn Error>> {
        Ok(Self)
    }

    /// Does nothing.
    pub(crate) fn finish(self) {}
}
