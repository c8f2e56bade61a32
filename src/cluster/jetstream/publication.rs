//! Responses to publications.

use async_nats::jetstream::context::{PublishError, PublishErrorKind};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What became of a publication.
pub(super) enum Published {
    /// The queue has the task.
    Stored,
    /// The server does not respond.
    Unanswered,
    /// The files of the stream are gone.
    Broken,
}

/// Explains an error. All errors of storage have one code.
pub(super) fn of_publication(error: PublishError) -> Result<Published, BoxError> {
    let text = error.to_string();
    if text.contains("maximum messages per subject exceeded") {
        Ok(Published::Stored)
    } else if text.contains("no such file or directory") {
        Ok(Published::Broken)
    } else if error.kind() == PublishErrorKind::TimedOut {
        Ok(Published::Unanswered)
    } else {
        Err(error.into())
    }
}
