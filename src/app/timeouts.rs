//! Timeouts of a connection: headers, idle time, writes.
//!
//! hyper has a single timeout for headers, which also runs while a connection is idle. hyper asks its [`Timer`] for a
//! sleep whenever it starts to wait for a request, so a timer for each connection can separate the two: it sleeps for
//! the idle timeout first, and for the header timeout once a byte has arrived.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use hyper::rt::Timer;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep, sleep_until};

/// Timeouts of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    /// Headers of a request, from its first byte; for the first request, from the start of the connection.
    pub(crate) header: Duration,
    /// Between a response and the first byte of the next request.
    pub(crate) keep_alive: Duration,
    /// Until the client reads the next part of a response.
    pub(crate) write: Duration,
}

impl Timeouts {
    /// Makes the system end a connection whose client reads nothing or is gone. The system notices this long before a
    /// slow stream of events fills its buffers and a write would block (docs/adr/0026).
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
}

/// True between a response and the first byte of the next request. Shared by the timer and the stream.
#[derive(Clone, Default, Debug)]
pub(crate) struct Idle(Arc<AtomicBool>);

impl Idle {
    pub(crate) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, idle: bool) {
        self.0.store(idle, Ordering::Relaxed);
    }
}

/// The one timer entry of a connection. It fires no later than the current deadline; if it fires too early, it is
/// reset. So a busy connection does not reset it for every request.
type SharedSleep = Arc<Mutex<Option<Pin<Box<Sleep>>>>>;

/// hyper's timer for one connection.
#[derive(Debug)]
pub(crate) struct HeaderTimer {
    timeouts: Timeouts,
    idle: Idle,
    sleep: SharedSleep,
    is_used: AtomicBool,
}

impl HeaderTimer {
    pub(crate) fn new(timeouts: Timeouts, idle: Idle) -> Self {
        Self { timeouts, idle, sleep: SharedSleep::default(), is_used: AtomicBool::new(false) }
    }
}

impl Timer for HeaderTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn hyper::rt::Sleep>> {
        self.sleep_until(Instant::now() + duration)
    }

    /// hyper calls this when it starts to wait for a request. `deadline` is now plus the header timeout.
    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn hyper::rt::Sleep>> {
        let is_idle = self.is_used.swap(true, Ordering::Relaxed);
        self.idle.set(is_idle);
        let deadline = if is_idle { deadline - self.timeouts.header + self.timeouts.keep_alive } else { deadline };
        Box::pin(HeaderSleep {
            deadline,
            is_idle,
            idle: self.idle.clone(),
            sleep: Arc::clone(&self.sleep),
            header: self.timeouts.header,
        })
    }
}

/// The wait for one request: for its first byte, then for the rest of its headers. hyper polls it after every read
/// that does not complete them.
struct HeaderSleep {
    deadline: Instant,
    is_idle: bool,
    idle: Idle,
    sleep: SharedSleep,
    header: Duration,
}

impl hyper::rt::Sleep for HeaderSleep {}

impl Future for HeaderSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let wait = self.get_mut();
        if wait.is_idle && !wait.idle.get() {
            wait.is_idle = false;
            wait.deadline = Instant::now() + wait.header;
        }
        let deadline = wait.deadline.into();
        let mut sleep = wait.sleep.lock();
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

/// A TCP stream that records arriving bytes in [`Idle`] and fails if the client reads nothing for the write timeout.
#[derive(Debug)]
pub(crate) struct TimeoutStream {
    stream: TcpStream,
    idle: Idle,
    write: Duration,
    /// Runs while a write is blocked.
    stall: Option<Pin<Box<Sleep>>>,
}

impl TimeoutStream {
    pub(crate) fn new(stream: TcpStream, timeouts: Timeouts, idle: Idle) -> Self {
        Self { stream, idle, write: timeouts.write, stall: None }
    }

    fn stream(&mut self) -> Pin<&mut TcpStream> {
        Pin::new(&mut self.stream)
    }

    fn with_write_timeout<T>(&mut self, context: &mut Context<'_>, write: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if write.is_ready() {
            self.stall = None;
            return write;
        }
        let limit = self.write;
        let stall = self.stall.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(stall.as_mut().poll(context));
        // Closing then resets the connection, so the system drops the unread data.
        let _ = self.stream.set_zero_linger();
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read the response")))
    }
}

impl AsyncRead for TimeoutStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = self.stream().poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.idle.set(false);
        }
        read
    }
}

impl AsyncWrite for TimeoutStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let write = self.stream().poll_write(context, bytes);
        self.with_write_timeout(context, write)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let write = self.stream().poll_write_vectored(context, bytes);
        self.with_write_timeout(context, write)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_shutdown(context)
    }
}
