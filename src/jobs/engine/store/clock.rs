//! The clock of a shared store.

use std::io;
use std::time::{Duration, Instant, SystemTime};

/// What this process knows of the clock of a shared store.
#[derive(Debug, Default)]
pub(super) struct StoreClock {
    /// A time of it, and when that was.
    known: Option<(SystemTime, Instant)>,
    /// When to look again.
    next_look: Option<Instant>,
}

/// Time between two looks, and after one that has failed.
const PERIOD: Duration = Duration::from_secs(600);
const RETRY: Duration = Duration::from_secs(10);

impl StoreClock {
    /// The time of the store; `None` if it is not known. Calls `look` when it is time to look again.
    pub(super) fn now(&mut self, look: impl FnOnce() -> io::Result<SystemTime>) -> Option<SystemTime> {
        if self.next_look.is_none_or(|next| next <= Instant::now()) {
            let looked = look();
            let pause = if looked.is_ok() { PERIOD } else { RETRY };
            self.next_look = Some(Instant::now() + pause);
            self.known = looked.map_or(self.known, |time| Some((time, Instant::now())));
        }
        self.known.map(|(time, at)| time + at.elapsed())
    }
}
