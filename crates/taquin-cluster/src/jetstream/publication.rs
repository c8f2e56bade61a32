//! Results of publications, and the time for which a server has not answered publications.

use std::time::{Duration, Instant};

use async_nats::jetstream::context::{PublishError, PublishErrorKind};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Result of a publication.
pub(crate) enum Published {
    /// The queue has the task.
    Stored,
    /// The server has not answered in time.
    Unanswered,
    /// The stream's files are gone.
    Broken,
}

/// Interprets the error of a publication. This function compares the text of the error, since all storage errors share
/// one error code. Returns an error with any other meaning unchanged.
pub(crate) fn of_publication(error: PublishError) -> Result<Published, BoxError> {
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

/// Consecutive time-outs of a server.
#[derive(Debug, Default)]
pub(crate) struct Silence {
    /// Times of the first and the last time-out; `None` if no time-out has followed the server's last answer.
    between: Option<(Instant, Instant)>,
}

/// Longest gap between consecutive time-outs. After a longer gap, the next time-out counts as the first.
const LONGEST_GAP: Duration = Duration::from_secs(30);

impl Silence {
    /// Records a time-out at `now`. Returns the time since the first of the consecutive time-outs.
    pub(crate) fn note(&mut self, now: Instant) -> Duration {
        let row = self.between.filter(|(_, last)| now.duration_since(*last) <= LONGEST_GAP);
        let first = row.map_or(now, |(first, _)| first);
        self.between = Some((first, now));
        now.duration_since(first)
    }

    /// Ends the sequence of time-outs. The caller calls this function after an answer of the server, or after a
    /// time-out without a connection.
    pub(crate) fn end(&mut self) {
        self.between = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_row_of_time_outs_counts() {
        let (mut silence, begun) = (Silence::default(), Instant::now());
        let after = |seconds| begun + Duration::from_secs(seconds);
        for (second, silent) in [(0, 0), (7, 7), (14, 14), (34, 34)] {
            assert_eq!(silence.note(after(second)), Duration::from_secs(silent), "{second}");
        }
        // A time-out hours later begins another sequence of time-outs.
        assert_eq!(silence.note(after(7200)), Duration::ZERO);
        assert_eq!(silence.note(after(7207)), Duration::from_secs(7));
        silence.end();
        assert_eq!(silence.note(after(7214)), Duration::ZERO);
    }
}
