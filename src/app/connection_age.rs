//! The maximum age of a connection. Reconnecting clients reach instances that started later (docs/adr/0017).

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::response::Response;

/// Responses after the maximum age that announce no end, because the next request has already arrived. The limit ends
/// the connection of a client that never stops pipelining.
const MAX_PIPELINED: u32 = 100;

/// The age of one connection.
#[derive(Debug)]
pub(crate) struct ConnectionAge {
    /// Time of the maximum age.
    over_at: Instant,
    /// Responses after that time that announced no end.
    pipelined: AtomicU32,
}

impl ConnectionAge {
    /// The age of a new connection. Its maximum varies by a tenth, so that connections that began together do not end
    /// together.
    pub(crate) fn new(max: Duration) -> Self {
        // Without random numbers, all connections have the same maximum.
        let random = getrandom::u32().unwrap_or(u32::MAX / 2);
        Self { over_at: Instant::now() + with_jitter(max, random), pipelined: AtomicU32::new(0) }
    }

    /// Time of the maximum age.
    pub(crate) fn over_at(&self) -> Instant {
        self.over_at
    }

    /// Announces the end of the connection in the next response once the maximum age is reached. hyper then closes the
    /// connection after the response. `has_next`: the client has sent another request, which gets its response first.
    pub(crate) fn announce_end<B>(&self, response: &mut Response<B>, has_next: bool) {
        if Instant::now() < self.over_at {
            return;
        }
        if !has_next || self.pipelined.fetch_add(1, Ordering::Relaxed) >= MAX_PIPELINED {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

/// Nine to eleven tenths of a duration. `random` is uniform.
fn with_jitter(max: Duration, random: u32) -> Duration {
    let tenth = max / 10;
    max - tenth + (tenth * 2).mul_f64(f64::from(random) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The headers `Connection` of responses.
    fn announcements(age: &ConnectionAge, has_next: &[bool]) -> Vec<bool> {
        let announces = |has_next: &bool| {
            let mut response = Response::new(());
            age.announce_end(&mut response, *has_next);
            response.headers().get(CONNECTION).is_some_and(|value| value == "close")
        };
        has_next.iter().map(announces).collect()
    }

    #[test]
    fn the_jitter_is_a_tenth_in_both_directions() {
        let max = Duration::from_secs(300);
        assert_eq!(with_jitter(max, 0), Duration::from_secs(270));
        assert_eq!(with_jitter(max, u32::MAX), Duration::from_secs(330));
        let middle = with_jitter(max, u32::MAX / 2);
        assert!(middle.abs_diff(max) < Duration::from_millis(1), "{middle:?}");
    }

    #[test]
    fn ages_differ() {
        let ends: Vec<Instant> = (0..20).map(|_| ConnectionAge::new(Duration::from_secs(3600)).over_at()).collect();
        let spread = ends.iter().max().unwrap().duration_since(*ends.iter().min().unwrap());
        assert!(spread > Duration::from_secs(60), "of twelve minutes: {spread:?}");
    }

    #[test]
    fn a_young_connection_announces_nothing() {
        let age = ConnectionAge::new(Duration::from_secs(3600));
        assert_eq!(announcements(&age, &[true, false, true]), [false; 3]);
    }

    #[test]
    fn an_old_one_announces_its_end_once_no_request_waits() {
        let age = ConnectionAge::new(Duration::ZERO);
        assert_eq!(announcements(&age, &[true, true, false]), [false, false, true]);
    }

    #[test]
    fn pipelining_without_end_does_not_keep_a_connection() {
        let age = ConnectionAge::new(Duration::ZERO);
        let announced = announcements(&age, &[true; MAX_PIPELINED as usize + 1]);
        assert_eq!(announced.iter().position(|announced| *announced), Some(MAX_PIPELINED as usize));
    }
}
