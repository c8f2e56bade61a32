//! Timeouts of a connection: headers, idle time, writes.
//!
//! hyper has a single timeout for headers, which also runs while a connection is idle. hyper asks its [`Timer`] for a
//! sleep whenever it starts to wait for a request, so a timer for each connection can separate the two: it sleeps for
//! the idle timeout first, and for the header timeout once a byte has arrived.
//!
//! The first bytes of a request may have arrived with the previous request, and then are in hyper's buffer, which only
//! an ended connection exposes. So the first sleep of an idle connection lasts at most the header timeout. If the
//! buffer is empty then, `connection` continues with a new hyper connection for the rest of the idle timeout.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use hyper::rt::Timer;
use parking_lot::Mutex;
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep_until};

pub(crate) use crate::config::Timeouts;

impl Timeouts {
    /// Makes the system end a connection whose client is gone or reads nothing. The system notices this long before a
    /// slow stream of events fills its buffers and blocks a write (docs/adr/0015).
    #[cfg(target_os = "linux")]
    pub(crate) fn set_user_timeout(&self, stream: &TcpStream) -> io::Result<()> {
        let millis = u32::try_from(self.write.as_millis()).unwrap_or(u32::MAX).max(1);
        Ok(rustix::net::sockopt::set_tcp_user_timeout(stream, millis)?)
    }

    /// Other systems lack this option; there only a blocked write ends the connection.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn set_user_timeout(&self, _: &TcpStream) -> io::Result<()> {
        Ok(())
    }

    /// Time at which a connection idle from `now` on is closed. A connection of the maximum age stays open for the
    /// header timeout: a client that still uses it learns of the end from a response.
    fn idle_until(&self, now: Instant, age_over_at: Option<Instant>) -> Instant {
        let until = now + self.keep_alive;
        age_over_at.map_or(until, |over_at| until.min(over_at.max(now + self.header)))
    }
}

/// A connection's wait for its next request, shared by timer, stream and connection.
#[derive(Clone, Default, Debug)]
pub(crate) struct Wait(Arc<WaitState>);

#[derive(Default, Debug)]
struct WaitState {
    /// Time of the maximum age, if there is one.
    age_over_at: Option<Instant>,
    /// True between a response and the first byte of the next request.
    is_idle: AtomicBool,
    /// End of the idle timeout; `None` before the first response.
    idle_until: Mutex<Option<Instant>>,
    /// True if the next wait continues the previous one.
    is_resumed: AtomicBool,
    /// The connection's only timer entry. It fires no later than the current deadline, and is reset if it fires too
    /// early. So a busy connection does not reset it for every request.
    sleep: Mutex<Option<Pin<Box<Sleep>>>>,
}

impl Wait {
    pub(crate) fn new(age_over_at: Option<Instant>) -> Self {
        Self(Arc::new(WaitState { age_over_at, ..WaitState::default() }))
    }

    /// True between a response and the first byte of the next request.
    pub(crate) fn is_idle(&self) -> bool {
        self.0.is_idle.load(Ordering::Relaxed)
    }

    /// Records that bytes have arrived.
    pub(crate) fn bytes_arrived(&self) {
        self.0.is_idle.store(false, Ordering::Relaxed);
    }

    /// Lets the next wait continue the current one. Returns false if the idle timeout is over.
    pub(crate) fn resume(&self) -> bool {
        let is_left = self.0.idle_until.lock().is_some_and(|until| Instant::now() < until);
        self.0.is_resumed.store(is_left, Ordering::Relaxed);
        is_left
    }
}

/// hyper's timer for one connection.
#[derive(Debug)]
pub(crate) struct HeaderTimer {
    timeouts: Timeouts,
    wait: Wait,
    is_used: AtomicBool,
}

impl HeaderTimer {
    pub(crate) fn new(timeouts: Timeouts, wait: Wait) -> Self {
        Self { timeouts, wait, is_used: AtomicBool::new(false) }
    }
}

impl Timer for HeaderTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn hyper::rt::Sleep>> {
        self.sleep_until(Instant::now() + duration)
    }

    /// hyper calls this when it starts to wait for a request. `deadline` is now plus the header timeout.
    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn hyper::rt::Sleep>> {
        let header = self.timeouts.header;
        let state = &*self.wait.0;
        let is_idle = self.is_used.swap(true, Ordering::Relaxed);
        state.is_idle.store(is_idle, Ordering::Relaxed);
        let deadline = if is_idle {
            let mut idle_until = state.idle_until.lock();
            if state.is_resumed.swap(false, Ordering::Relaxed) {
                idle_until.unwrap_or(deadline)
            } else {
                let until = *idle_until.insert(self.timeouts.idle_until(deadline - header, state.age_over_at));
                deadline.min(until)
            }
        } else {
            deadline
        };
        Box::pin(HeaderSleep { deadline, is_idle, wait: self.wait.clone(), header })
    }
}

/// The wait for one request: for its first byte, then for the rest of its headers. hyper polls it after every read that
/// does not complete them.
struct HeaderSleep {
    deadline: Instant,
    is_idle: bool,
    wait: Wait,
    header: Duration,
}

impl hyper::rt::Sleep for HeaderSleep {}

impl Future for HeaderSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if this.is_idle && !this.wait.is_idle() {
            this.is_idle = false;
            this.deadline = Instant::now() + this.header;
        }
        let deadline = this.deadline.into();
        let mut sleep = this.wait.0.sleep.lock();
        let sleep = sleep.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if sleep.deadline() > deadline {
            sleep.as_mut().reset(deadline);
        }
        while sleep.deadline() < deadline {
            ready!(sleep.as_mut().poll(context));
            sleep.as_mut().reset(deadline);
        }
        sleep.as_mut().poll(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_connection_ends_at_its_age_but_not_before_a_client_may_have_noticed() {
        let second = Duration::from_secs(1);
        let timeouts = Timeouts { header: 10 * second, keep_alive: 75 * second, write: 30 * second, age: None };
        let now = Instant::now();
        let idle = |age_over_at| timeouts.idle_until(now, age_over_at).duration_since(now).as_secs();
        assert_eq!(idle(None), 75);
        for (over_in, expected) in [(0, 10), (9, 10), (11, 11), (74, 74), (76, 75), (300, 75)] {
            assert_eq!(idle(Some(now + over_in * second)), expected, "over in {over_in} s");
        }
        assert_eq!(idle(now.checked_sub(100 * second)), 10, "over long ago");
        let short = Timeouts { keep_alive: 5 * second, ..timeouts };
        assert_eq!(short.idle_until(now, Some(now)), now + 5 * second, "never later than without a maximum age");
    }
}
