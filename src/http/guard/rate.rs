//! The rate limit of each client, and the address that the limit counts.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU32;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName};
use governor::clock::{Clock, DefaultClock, Reference};
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::keyed::{HashMapStateStore, ShrinkableKeyedStateStore};
use governor::state::{InMemoryState, NotKeyed, StateStore};
use governor::{Quota, RateLimiter};
use parking_lot::Mutex;

use crate::http::problem::{Problem, ProblemKind};

/// Quota of a client: a number of requests a period, evenly spaced, and a burst.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rate {
    /// Requests a period.
    pub requests: NonZeroU32,
    /// The period; at least one nanosecond a request.
    pub period: Duration,
    /// Maximum number of requests at once after a pause.
    pub burst: NonZeroU32,
}

/// Maximum number of clients with a quota of their own. They take a few megabytes.
const MAX_CLIENTS: usize = 100_000;

/// Interval between removals of clients whose whole quota is available again.
const SWEEP_INTERVAL: Duration = Duration::from_secs(10);

/// Limits the rate of requests of each client.
pub(crate) struct RateLimit<C: Clock = DefaultClock> {
    rate: Rate,
    limiter: RateLimiter<IpAddr, Clients, C, NoOpMiddleware<C::Instant>>,
    swept: Mutex<C::Instant>,
}

/// Shows the rate without the clients.
impl<C: Clock> fmt::Debug for RateLimit<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rate.fmt(f)
    }
}

impl RateLimit {
    pub(crate) fn new(rate: Rate) -> Self {
        Self::with_clock(rate, DefaultClock::default(), MAX_CLIENTS)
    }
}

impl<C: Clock> RateLimit<C> {
    fn with_clock(rate: Rate, clock: C, max_clients: usize) -> Self {
        let interval = (rate.period / rate.requests.get()).max(Duration::from_nanos(1));
        let quota = Quota::with_period(interval).unwrap_or(Quota::per_second(rate.requests)).allow_burst(rate.burst);
        let swept = Mutex::new(clock.now());
        Self { rate, limiter: RateLimiter::new(quota, Clients::new(max_clients), clock), swept }
    }

    /// Takes one request off the quota of a client.
    ///
    /// # Errors
    /// `rate-limited` with `Retry-After` if the quota is used up.
    pub(crate) fn check(&self, client: IpAddr) -> Result<(), Problem> {
        self.sweep();
        self.limiter.check_key(&client).map_err(|not_until| {
            let wait = not_until.wait_time_from(self.limiter.clock().now());
            let Rate { requests, period, .. } = self.rate;
            let detail = format!("This client has exceeded its rate limit of {requests}/{period:?}. Retry after the time in `Retry-After`.");
            Problem::new(ProblemKind::RateLimited, detail).with_retry_after(whole_seconds(wait))
        })
    }

    fn sweep(&self) {
        // If the lock is held, another thread removes clients.
        let Some(mut swept) = self.swept.try_lock() else { return };
        let now = self.limiter.clock().now();
        if Duration::from(now.duration_since(*swept)) >= SWEEP_INTERVAL {
            *swept = now;
            self.limiter.retain_recent();
            self.limiter.shrink_to_fit();
        }
    }
}

/// Rounds up to whole seconds, at least 1, so that a retry after this time is not too early.
fn whole_seconds(wait: Duration) -> u64 {
    (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1)
}

/// State of each client, for at most `most` clients. All further clients share one quota until others are removed. A
/// flood from many addresses therefore takes no more memory and does not affect known clients; only new clients are
/// rejected.
struct Clients {
    known: HashMapStateStore<IpAddr>,
    others: InMemoryState,
    most: usize,
}

impl Clients {
    fn new(most: usize) -> Self {
        Self { known: HashMapStateStore::default(), others: InMemoryState::default(), most }
    }

    fn has_capacity_for(&self, client: &IpAddr) -> bool {
        let known = self.known.lock();
        known.len() < self.most || known.contains_key(client)
    }
}

impl StateStore for Clients {
    type Key = IpAddr;

    /// Threads that run this at the same moment may each add one client above the maximum.
    fn measure_and_replace<T, F, E>(&self, client: &IpAddr, decide: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        if self.has_capacity_for(client) {
            self.known.measure_and_replace(client, decide)
        } else {
            self.others.measure_and_replace(&NotKeyed::NonKey, decide)
        }
    }
}

impl ShrinkableKeyedStateStore<IpAddr> for Clients {
    fn retain_recent(&self, drop_below: Nanos) {
        self.known.retain_recent(drop_below);
    }

    fn shrink_to_fit(&self) {
        self.known.shrink_to_fit();
    }

    fn len(&self) -> usize {
        self.known.len()
    }

    fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Returns the address of the client: the peer of the connection or, behind proxies, the peer of the outermost proxy.
///
/// Each proxy appends its own peer to `X-Forwarded-For`. The entry of the outermost proxy is therefore number
/// `trusted_proxies` from the right; the client can forge every entry left of it. If that entry is missing or invalid,
/// the configured number of proxies is wrong and no entry can be trusted. The address is then the peer, which cannot be
/// forged, and all clients behind one proxy share a quota.
pub(super) fn client(headers: &HeaderMap, peer: IpAddr, trusted_proxies: usize) -> IpAddr {
    let entry = trusted_proxies.checked_sub(1).and_then(|further| entries_from_the_right(headers).nth(further));
    network(entry.and_then(address).unwrap_or(peer))
}

/// All entries of all `X-Forwarded-For` lines, the last one first. Empty entries count: skipping one would shift the
/// position to an entry that the client wrote.
fn entries_from_the_right(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    headers.get_all(X_FORWARDED_FOR).iter().rev().flat_map(|line| line.as_bytes().rsplit(|byte| *byte == b','))
}

/// Parses an address, with or without a port; brackets around IPv6 are optional.
fn address(entry: &[u8]) -> Option<IpAddr> {
    let entry = std::str::from_utf8(entry).ok()?.trim();
    let in_brackets = || entry.strip_prefix('[')?.strip_suffix(']')?.parse().ok().map(IpAddr::V6);
    let with_port = || entry.parse().ok().map(|address: SocketAddr| address.ip());
    entry.parse().ok().or_else(in_brackets).or_else(with_port)
}

/// The unit of the rate limit: a whole IPv4 address, also if it is mapped to IPv6, or the first 64 bits of an IPv6
/// address, because the client chooses the rest.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use governor::clock::FakeRelativeClock;

    use super::*;

    /// A limit of `requests` a minute, and its clock, which tests advance.
    fn limit(requests: u32, burst: u32, max_clients: usize) -> (RateLimit<FakeRelativeClock>, FakeRelativeClock) {
        let of = |number| NonZeroU32::new(number).unwrap();
        let clock = FakeRelativeClock::default();
        let rate = Rate { requests: of(requests), period: Duration::from_secs(60), burst: of(burst) };
        (RateLimit::with_clock(rate, clock.clone(), max_clients), clock)
    }

    fn client(number: u32) -> IpAddr {
        Ipv4Addr::from_bits(number).into()
    }

    /// Sends `requests` requests and returns the number of accepted ones.
    fn passed(limit: &RateLimit<FakeRelativeClock>, client: IpAddr, requests: usize) -> usize {
        (0..requests).filter(|_| limit.check(client).is_ok()).count()
    }

    fn retry_after(limit: &RateLimit<FakeRelativeClock>, client: IpAddr) -> String {
        let problem = limit.check(client).unwrap_err();
        assert_eq!(problem.kind, ProblemKind::RateLimited);
        let response = axum::response::IntoResponse::into_response(problem);
        response.headers()["retry-after"].to_str().unwrap().to_owned()
    }

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let (limit, clock) = limit(60, 5, 10);
        assert_eq!(passed(&limit, client(1), 10), 5);
        assert_eq!(passed(&limit, client(2), 10), 5, "another client has its own quota");
        clock.advance(Duration::from_millis(2_500));
        assert_eq!(passed(&limit, client(1), 10), 2);
        clock.advance(Duration::from_secs(3600));
        assert_eq!(passed(&limit, client(1), 10), 5, "a pause allows no more than a burst");
    }

    #[test]
    fn a_request_after_retry_after_is_accepted() {
        let (limit, clock) = limit(7, 1, 10);
        assert_eq!(passed(&limit, client(1), 1), 1);
        assert_eq!(retry_after(&limit, client(1)), "9", "60 s / 7, rounded up");
        clock.advance(Duration::from_secs(9));
        assert!(limit.check(client(1)).is_ok());
        assert_eq!([0, 1, 1_000, 1_001].map(|ms| whole_seconds(Duration::from_millis(ms))), [1, 1, 1, 2]);
    }

    #[test]
    fn a_flood_of_clients_takes_bounded_memory() {
        let (limit, clock) = limit(60, 5, 1_000);
        assert_eq!(passed(&limit, client(1), 2), 2);
        let newcomers = (1_000_000..1_100_000).filter(|number| limit.check(client(*number)).is_ok()).count();
        assert_eq!(limit.limiter.len(), 1_000);
        assert_eq!(newcomers, 999 + 5, "all others share one quota");
        assert_eq!(passed(&limit, client(1), 10), 3, "a known client keeps its quota");
        assert!(limit.limiter.check_key(&client(2)).is_err());
        // The sweep removes clients with a full quota, which makes room for new ones.
        clock.advance(SWEEP_INTERVAL);
        assert!(limit.check(client(2)).is_ok());
        assert_eq!(limit.limiter.len(), 1);
        assert!(limit.limiter.check_key(&client(2)).is_ok());
    }

    #[test]
    fn the_slowest_and_the_fastest_rate_work() {
        let of = |number| NonZeroU32::new(number).unwrap();
        let day = Duration::from_secs(24 * 60 * 60);
        for rate in [
            Rate { requests: of(1), period: day, burst: of(100_000) },
            Rate { requests: of(100_000), period: Duration::from_millis(1), burst: of(1) },
            Rate { requests: of(100_000), period: Duration::ZERO, burst: of(100_000) },
        ] {
            let limit = RateLimit::new(rate);
            assert!((0..100).all(|number| limit.check(client(number)).is_ok()), "{rate:?}");
        }
    }

    const PEER: &str = "192.0.2.1";

    /// The client of a request with these `X-Forwarded-For` lines.
    fn behind(trusted_proxies: usize, lines: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(X_FORWARDED_FOR, axum::http::HeaderValue::from_bytes(line.as_bytes()).unwrap());
        }
        super::client(&headers, PEER.parse().unwrap(), trusted_proxies).to_string()
    }

    #[test]
    fn without_proxies_the_header_is_ignored() {
        assert_eq!(behind(0, &[]), PEER);
        assert_eq!(behind(0, &["203.0.113.7"]), PEER);
    }

    #[test]
    fn the_entry_of_the_outermost_proxy_counts() {
        assert_eq!(behind(1, &["203.0.113.7"]), "203.0.113.7");
        assert_eq!(behind(1, &["6.6.6.6, 203.0.113.7"]), "203.0.113.7");
        assert_eq!(behind(1, &["6.6.6.6", "7.7.7.7,203.0.113.7"]), "203.0.113.7");
        assert_eq!(behind(2, &["6.6.6.6, 203.0.113.7,  10.0.0.1 "]), "203.0.113.7");
        assert_eq!(behind(2, &["6.6.6.6, 203.0.113.7", "10.0.0.1"]), "203.0.113.7");
        assert_eq!(behind(1, &["garbage, , ü, 203.0.113.7"]), "203.0.113.7");
    }

    #[test]
    fn a_missing_or_invalid_entry_leaves_the_peer() {
        assert_eq!(behind(1, &[]), PEER);
        assert_eq!(behind(2, &["203.0.113.7"]), PEER);
        for last in ["", "unknown", "unix:", "203.0.113", "203.0.113.7:x", "[2001:db8::1", "ü", "203.0.113.7 6.6.6.6"]
        {
            assert_eq!(behind(1, &[&format!("6.6.6.6, {last}")]), PEER, "{last:?}");
        }
        assert_eq!(behind(1, &["6.6.6.6,"]), PEER, "an empty entry is not skipped");
        assert_eq!(behind(1, &["6.6.6.6", ""]), PEER);
    }

    #[test]
    fn an_entry_may_have_a_port() {
        assert_eq!(behind(1, &["203.0.113.7:4711"]), "203.0.113.7");
        for entry in ["2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:4711"] {
            assert_eq!(behind(1, &[entry]), "2001:db8::");
        }
    }

    #[test]
    fn ipv6_counts_by_network_and_mapped_ipv4_as_ipv4() {
        assert_eq!(behind(1, &["2001:db8:1:2:3:4:5:6"]), "2001:db8:1:2::");
        assert_eq!(behind(1, &["::ffff:203.0.113.7"]), "203.0.113.7");
        assert_eq!(behind(1, &["::1"]), "::");
    }
}
