//! How long a server has not responded.

use std::time::{Duration, Instant};

/// Time-outs of a server in a row.
#[derive(Debug, Default)]
pub(super) struct Silence {
    /// The first and the last of them.
    between: Option<(Instant, Instant)>,
}

/// Longest time between two time-outs of a row. What was not tried between them says nothing.
const LONGEST_GAP: Duration = Duration::from_secs(30);

impl Silence {
    /// Notes a time-out. Returns since when there was nothing else.
    pub(super) fn note(&mut self, now: Instant) -> Duration {
        let row = self.between.filter(|(_, last)| now.duration_since(*last) <= LONGEST_GAP);
        let first = row.map_or(now, |(first, _)| first);
        self.between = Some((first, now));
        now.duration_since(first)
    }

    /// Notes anything else.
    pub(super) fn end(&mut self) {
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
        // One hours later is the first of another row.
        assert_eq!(silence.note(after(7200)), Duration::ZERO);
        assert_eq!(silence.note(after(7207)), Duration::from_secs(7));
        silence.end();
        assert_eq!(silence.note(after(7214)), Duration::ZERO);
    }
}
