//! Times that have a date of four digits.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds from 1970 to the end of the year 9999.
const MAX_MILLIS: u64 = 253_402_300_799_999;

/// Milliseconds since 1970.
pub(super) fn millis(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// The time so many milliseconds after the begin of 1970; `None` after the year 9999.
pub(super) fn of_millis(millis: u64) -> Option<SystemTime> {
    (millis <= MAX_MILLIS).then(|| UNIX_EPOCH + Duration::from_millis(millis))
}

/// The nearest time from 1970 to the year 9999: files can have any.
pub(super) fn bounded(time: SystemTime) -> SystemTime {
    time.clamp(UNIX_EPOCH, UNIX_EPOCH + Duration::from_millis(MAX_MILLIS))
}

/// A time so much later, if that is not after the year 9999.
pub(super) fn later(time: SystemTime, by: Duration) -> SystemTime {
    time.checked_add(by).map_or(UNIX_EPOCH + Duration::from_millis(MAX_MILLIS), bounded)
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
