//! How long a connection may take for what.
//!
//! hyper has one time-out for headers, and it runs while a connection is idle too. But hyper takes
//! its time from a [`Timer`], which it asks for a sleep whenever it begins to wait for a request. So
//! a timer of the connection's own tells the two apart: it sleeps for as long as the connection may
//! be idle, and once a byte is read, for as long as headers may take.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use hyper::rt::Timer;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep, sleep_until};

/// The times that a connection has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// For a request's headers, from its first byte; for the first request, from the start.
    pub(super) header: Duration,
    /// Between an answer and the first byte of the next request.
    pub(super) keep_alive: Duration,
    /// For the client to take something of an answer.
    pub(super) write: Duration,
}

impl Patience {
    /// Has the system end a connection whose client takes nothing, or is not there any more. It sees that long before
    /// an answer that comes little by little fills its buffers, so that a write would wait (docs/adr/0026).
    #[cfg(target_os = "linux")]
    pub(super) fn bound_by_system(&self, stream: &TcpStream) -> io::Result<()> {
        let millis = u32::try_from(self.write.as_millis()).unwrap_or(u32::MAX).max(1);
        Ok(rustix::net::sockopt::set_tcp_user_timeout(stream, millis)?)
    }

    /// Other systems have nothing of the kind: there a write has to wait first.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn bound_by_system(&self, _: &TcpStream) -> io::Result<()> {
        Ok(())
    }
}

/// Whether a connection has served a request, and nothing of the next one has come.
#[derive(Clone, Default, Debug)]
pub(super) struct Idle(Arc<AtomicBool>);

impl Idle {
    pub(super) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, idle: bool) {
        self.0.store(idle, Ordering::Relaxed);
    }
}

/// What wakes a connection that waits for a request. It is set for the first wait, and from then on
/// it goes off no later than the wait in hand is over: if that was too early it is set anew. So a
/// connection that is busy does not set it for each request.
type Alarm = Arc<Mutex<Option<Pin<Box<Sleep>>>>>;

/// hyper's clock for one connection.
#[derive(Debug)]
pub(super) struct HeadTimer {
    patience: Patience,
    idle: Idle,
    alarm: Alarm,
    has_begun: AtomicBool,
}

impl HeadTimer {
    pub(super) fn new(patience: Patience, idle: Idle) -> Self {
        Self { patience, idle, alarm: Alarm::default(), has_begun: AtomicBool::new(false) }
    }
}

impl Timer for HeadTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn hyper::rt::Sleep>> {
        self.sleep_until(Instant::now() + duration)
    }

    /// hyper begins to wait for a request; its deadline is that of headers which begin now.
    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn hyper::rt::Sleep>> {
        let is_idle = self.has_begun.swap(true, Ordering::Relaxed);
        self.idle.set(is_idle);
        let deadline = if is_idle { deadline - self.patience.header + self.patience.keep_alive } else { deadline };
        Box::pin(HeadWait {
            deadline,
            is_idle,
            idle: self.idle.clone(),
            alarm: Arc::clone(&self.alarm),
            header: self.patience.header,
        })
    }
}

/// The wait for one request, first for its beginning and then for its headers. hyper polls it after
/// each byte that is not the last.
struct HeadWait {
    deadline: Instant,
    is_idle: bool,
    idle: Idle,
    alarm: Alarm,
    header: Duration,
}

impl hyper::rt::Sleep for HeadWait {}

impl Future for HeadWait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let wait = self.get_mut();
        if wait.is_idle && !wait.idle.get() {
            wait.is_idle = false;
            wait.deadline = Instant::now() + wait.header;
        }
        let deadline = wait.deadline.into();
        let mut alarm = wait.alarm.lock().unwrap_or_else(PoisonError::into_inner);
        let alarm = alarm.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if alarm.deadline() > deadline {
            alarm.as_mut().reset(deadline);
        }
        while alarm.deadline() < deadline {
            ready!(alarm.as_mut().poll(context));
            alarm.as_mut().reset(deadline);
        }
        alarm.as_mut().poll(context)
    }
}

/// A stream that notes when bytes come, and fails when the other side takes none.
#[derive(Debug)]
pub(super) struct PatientStream {
    stream: TcpStream,
    idle: Idle,
    write: Duration,
    /// Runs while a write waits.
    stall: Option<Pin<Box<Sleep>>>,
}

impl PatientStream {
    pub(super) fn new(stream: TcpStream, patience: Patience, idle: Idle) -> Self {
        Self { stream, idle, write: patience.write, stall: None }
    }

    fn stream(&mut self) -> Pin<&mut TcpStream> {
        Pin::new(&mut self.stream)
    }

    fn unless_stalled<T>(&mut self, context: &mut Context<'_>, write: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if write.is_ready() {
            self.stall = None;
            return write;
        }
        let limit = self.write;
        let stall = self.stall.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(stall.as_mut().poll(context));
        // Closing resets the connection, so that the system does not keep what was not taken.
        let _ = self.stream.set_zero_linger();
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client takes nothing of its answer")))
    }
}

impl AsyncRead for PatientStream {
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

impl AsyncWrite for PatientStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let write = self.stream().poll_write(context, bytes);
        self.unless_stalled(context, write)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let write = self.stream().poll_write_vectored(context, bytes);
        self.unless_stalled(context, write)
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
