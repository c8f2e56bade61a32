//! Conversion of times, limited to the years 1970 to 9999, and the clock of a shared store.

use std::io;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Number of milliseconds from the start of 1970 to the end of the year 9999.
const MAX_MILLIS: u64 = 253_402_300_799_999;

/// Returns the milliseconds since the start of 1970, or 0 for an earlier time.
pub(crate) fn millis(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// Returns the time `millis` milliseconds after the start of 1970; `None` after the year 9999.
pub(crate) fn of_millis(millis: u64) -> Option<SystemTime> {
    (millis <= MAX_MILLIS).then(|| UNIX_EPOCH + Duration::from_millis(millis))
}

/// Clamps a time to the years 1970 to 9999. The date of a file may be outside these years.
pub(crate) fn bounded(time: SystemTime) -> SystemTime {
    time.clamp(UNIX_EPOCH, UNIX_EPOCH + Duration::from_millis(MAX_MILLIS))
}

/// Adds a duration, and clamps the result to the year 9999.
pub(crate) fn later(time: SystemTime, by: Duration) -> SystemTime {
    time.checked_add(by).map_or(UNIX_EPOCH + Duration::from_millis(MAX_MILLIS), bounded)
}

/// Estimates the present time of a shared store's clock.
#[derive(Debug, Default)]
pub(crate) struct StoreClock {
    /// The last time read from the store's clock, and the local instant of that read; `None` before the first
    /// successful read.
    known: Option<(SystemTime, Instant)>,
    /// Instant from which on the store's clock is read again; `None` before the first read.
    next_look: Option<Instant>,
}

/// Pause after a successful read of the store's clock.
const LOOK_PERIOD: Duration = Duration::from_secs(600);
/// Pause after a failed read of the store's clock.
const LOOK_RETRY: Duration = Duration::from_secs(10);

impl StoreClock {
    /// Returns the present time of the store's clock; `None` if no read has succeeded yet. `look` reads the clock. This
    /// function calls `look` only if a read is due.
    pub(crate) fn now(&mut self, look: impl FnOnce() -> io::Result<SystemTime>) -> Option<SystemTime> {
        if self.next_look.is_none_or(|next| next <= Instant::now()) {
            let looked = look();
            let pause = if looked.is_ok() { LOOK_PERIOD } else { LOOK_RETRY };
            self.next_look = Some(Instant::now() + pause);
            self.known = looked.map_or(self.known, |time| Some((time, Instant::now())));
        }
        self.known.map(|(time, at)| time + at.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_stay_within_four_digits_of_a_year() {
        let last = of_millis(MAX_MILLIS).unwrap();
        assert_eq!((of_millis(MAX_MILLIS + 1), millis(last)), (None, MAX_MILLIS));
        for (time, expected) in [(UNIX_EPOCH - Duration::from_secs(5), UNIX_EPOCH), (last, last)] {
            assert_eq!(bounded(time), expected);
        }
        for by in [Duration::from_secs(1), Duration::MAX] {
            assert_eq!(later(last, by), last);
        }
        assert_eq!(later(UNIX_EPOCH, Duration::from_millis(7)), of_millis(7).unwrap());
    }
}
