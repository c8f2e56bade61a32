//! The clock of searches.

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use std::time::Instant;

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub use host_clock::{Instant, set_clock};

/// A clock for targets whose `std` has none.
#[cfg(any(test, all(target_family = "wasm", target_os = "unknown")))]
mod host_clock {
    #![cfg_attr(test, allow(unreachable_pub, reason = "the target without a clock exports it"))]

    use std::ops::Add;
    use std::sync::OnceLock;
    use std::time::Duration;

    static CLOCK: OnceLock<fn() -> Duration> = OnceLock::new();

    /// Sets the clock of all searches, a function that returns the time since any fixed moment, such as
    /// `performance.now` of a browser. Returns false if there is a clock already.
    ///
    /// `wasm32-unknown-unknown` has no clock of its own. Without one, times in reports are zero, and a search with a
    /// deadline panics.
    pub fn set_clock(clock: fn() -> Duration) -> bool {
        CLOCK.set(clock).is_ok()
    }

    /// A moment, as [`std::time::Instant`] is on other targets.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    pub struct Instant(Duration);

    impl Instant {
        /// The current moment; always the same one before [`set_clock`].
        pub fn now() -> Self {
            Self(CLOCK.get().map_or(Duration::ZERO, |clock| clock()))
        }

        /// Time since then.
        pub fn elapsed(&self) -> Duration {
            Self::now().saturating_duration_since(*self)
        }

        /// Time since an earlier moment; zero if it is later.
        pub fn saturating_duration_since(&self, earlier: Self) -> Duration {
            self.0.saturating_sub(earlier.0)
        }
    }

    /// # Panics
    /// If there is no clock: time would never reach the sum.
    impl Add<Duration> for Instant {
        type Output = Self;

        fn add(self, time: Duration) -> Self {
            assert!(
                CLOCK.get().is_some(),
                "a deadline needs a clock on this target: call `taquin_solver::set_clock` first"
            );
            Self(self.0.saturating_add(time))
        }
    }

    #[cfg(test)]
    mod tests {
        use std::panic::catch_unwind;
        use std::sync::atomic::{AtomicU64, Ordering};

        use super::*;

        static MILLIS: AtomicU64 = AtomicU64::new(0);

        #[test]
        fn time_stands_still_until_there_is_a_clock() {
            let begun = Instant::now();
            assert_eq!((begun, begun.elapsed()), (Instant::now(), Duration::ZERO));
            assert!(catch_unwind(|| begun + Duration::from_secs(1)).is_err());
            assert!(set_clock(|| Duration::from_millis(MILLIS.fetch_add(5, Ordering::Relaxed))));
            assert!(!set_clock(|| Duration::ZERO));
            let begun = Instant::now();
            assert_eq!(begun.elapsed(), Duration::from_millis(5));
            assert!(
                begun + Duration::from_millis(11) > Instant::now()
                    && begun + Duration::from_millis(11) < Instant::now()
            );
        }
    }
}
